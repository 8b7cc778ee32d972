#pragma once
// Packed operands of dots, shared by the programs of one launch. The calls generated code makes are in tilery/abi.h.
#include <cstdint>
#include <cstddef>

namespace tilery {

/// Ends the panels of a launch: `panels` is the launch's field, null if no program packed anything. No program of the launch may still run.
void freePanels(void *panels);

/// Bytes that the panels of one launch may hold before unused ones are replaced, and that are kept for the next launch.
/// Four times the last-level cache: a packed panel in memory is still cheaper to read than the operand is to pack again.
size_t panelBudget();

} // namespace tilery
