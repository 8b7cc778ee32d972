#pragma once
// Roles as one thread of control that goes from role to role whenever one has to wait.
#include "compiler/passes/barrier_counts.h"

namespace tilery {

/// Replaces the roles by a loop that lets each of them go on from where it stopped until it waits or ends. A role is cut at its waits into
/// steps, of which a number in memory says which is next; what a step leaves for another lies in memory, too. Roles that all wait stop the
/// launch at the lines of their waits. Roles must not hold other roles, nor wait in a region other than a loop's or branch's body.
void interleaveRoles(tile::RolesOp roles, BarrierCounts &barriers);

/// The first op in the roles that interleaveRoles does not take, or null.
mlir::Operation *notInterleavable(tile::RolesOp roles);

} // namespace tilery
