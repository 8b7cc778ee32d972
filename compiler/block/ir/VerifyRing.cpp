// Verifiers of the ops in BlockRing.td.
#include "compiler/analysis/search.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/block/ir/uses.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::block;

/// What is done with the shared tile: by threads for themselves, or by warpgroups together.
static void addReaders(Value shared, bool &reads, bool &multiplies) {
  for (Operation *user : shared.getUsers())
    if (auto same = dyn_cast<TransposeOp>(user))
      addReaders(same.getResult(), reads, multiplies);
    else
      (isa<MmaStartOp>(user) ? multiplies : reads) = true;
}

unsigned block::arrivalsOf(RoleOp role, Value ring) {
  bool takes = false, reads = false, multiplies = false;
  for (Operation *user : ring.getUsers()) {
    auto take = dyn_cast<TakeOp>(user);
    if (!take || !role->isProperAncestor(take))
      continue;
    takes = true;
    for (Value slot : flowOf(take.getResult()))
      for (Operation *part : slot.getUsers())
        if (isa<PartOp>(part))
          addReaders(part->getResult(0), reads, multiplies);
  }
  bool byWarps = multiplies && multipliesByWarps(role);
  return reads || byWarps ? role.getWarps() : multiplies ? role.getWarps() / 4 : takes;
}

static LogicalResult checkTakers(RingOp ring) {
  unsigned together = 0, one = 0; // arrivals of all instances of each role, of one instance
  llvm::SmallPtrSet<Operation *, 4> roles;
  for (Operation *user : ring.getResult().getUsers())
    if (auto take = dyn_cast<TakeOp>(user))
      if (auto role = take->getParentOfType<RoleOp>(); role && roles.insert(role).second) {
        one += arrivalsOf(role, ring);
        together += arrivalsOf(role, ring) * role.instanceCount();
      }
  if (roles.empty() || ring.getTakers() == together || ring.getTakers() == one) // instances take all positions, or their own
    return success();
  return ring.emitOpError() << "counts " << ring.getTakers() << " takers, but its roles release a slot by " << together
                            << " arrivals";
}

SmallVector<int64_t> RingOp::tileOffsets(int64_t alignment) {
  SmallVector<int64_t> offsets;
  int64_t at = 0, end = 0;
  for (auto [i, tile] : llvm::enumerate(getType().getTiles())) {
    if (getInstead() && i == *getInstead())
      at = 0;
    offsets.push_back(at);
    at += llvm::alignTo(tile.getBytes(), alignment);
    end = std::max(end, at);
  }
  offsets.push_back(end);
  return offsets;
}

/// A position fills the tiles before `instead`, or those from there on.
static LogicalResult checkInstead(RingOp ring) {
  if (!ring.getInstead())
    return success();
  if (*ring.getInstead() >= ring.getType().getTiles().size())
    return ring.emitOpError() << "has no tile from number " << *ring.getInstead() << " on";
  for (Operation *user : ring.getResult().getUsers()) {
    auto acquire = dyn_cast<AcquireOp>(user);
    bool first = false, other = false;
    if (!acquire)
      continue;
    for (Operation *part : acquire.getResult().getUsers())
      if (isa<PartOp>(part))
        (cast<PartOp>(part).getIndex() < *ring.getInstead() ? first : other) = true;
    if (first && other)
      return acquire.emitOpError("fills tiles that lie in the same memory");
  }
  return success();
}

LogicalResult RingOp::verify() {
  auto kernel = (*this)->getParentOfType<tile::KernelOp>();
  int64_t bytes = kernel ? sharedBytes(kernel, *this) : 0;
  if (bytes > sharedLimit)
    return emitOpError() << "asks for more shared memory than a block has: " << bytes << " bytes so far, of " << sharedLimit;
  Operation *filling = nullptr;
  for (Operation *user : getResult().getUsers()) {
    if (!isa<AcquireOp, TakeOp, AllocOp>(user))
      return emitOpError("is acquired and taken where it was made, and given to nothing else");
    if (!isa<AcquireOp>(user))
      continue;
    Operation *role = user->getParentOfType<RoleOp>();
    if (filling && role != filling)
      return emitOpError("is filled by two roles");
    filling = role;
  }
  return failed(checkInstead(*this)) ? failure() : checkTakers(*this);
}

/// Inside `programs`, positions go on from program to program.
static LogicalResult checkPosition(Operation *op, Value position) {
  auto programs = op->getParentOfType<ProgramsOp>();
  if (!programs)
    return success();
  for (analysis::Search<Value> from(position); Value value = from.next();) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument) {
      from.addAll(value.getDefiningOp()->getOperands());
      for (Region &region : value.getDefiningOp()->getRegions()) // what a branch or a loop gives
        if (!region.empty() && region.front().mightHaveTerminator())
          from.addAll(region.front().getTerminator()->getOperands());
      continue;
    }
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == programs.getOperation() && argument.getArgNumber() >= 3)
      return success();
    if (auto loop = dyn_cast<scf::ForOp>(parent); loop && argument.getArgNumber() > 0)
      from.add(loop.getInitArgs()[argument.getArgNumber() - 1]);
    else if (auto loop = dyn_cast<scf::WhileOp>(parent))
      from.addAll(loop.getInits());
  }
  return op->emitOpError("needs a position that `programs` carries from program to program");
}

static LogicalResult checkRing(Operation *op, Value ring) {
  if (!ring.getDefiningOp<RingOp>())
    return op->emitOpError("needs the result of `block.ring` itself");
  return success();
}

LogicalResult AcquireOp::verify() {
  PathUses uses = usesOnPaths(getResult(), [](OpOperand &use) { return isa<PublishOp>(use.getOwner()); });
  if (uses.least != 1 || uses.most != 1)
    return emitOpError("needs one `publish` of its slot on each path");
  return failed(checkRing(*this, getRing())) ? failure() : checkPosition(*this, getPosition());
}

LogicalResult TakeOp::verify() {
  for (Value slot : flowOf(getResult()))
    if (usesOnPaths(slot, [](OpOperand &use) { return isa<ReleaseOp>(use.getOwner()); }).most > 1)
      return emitOpError("gives a slot that is released more than once on some path");
  return failed(checkRing(*this, getRing())) ? failure() : checkPosition(*this, getPosition());
}

// ---- products have read what is released

static bool isSettledBefore(Value product, Operation *release) {
  return llvm::any_of(product.getUsers(),
                      [&](Operation *user) { return isa<MmaSettleOp, MmaWaitOp>(user) && precedes(user, release); });
}

/// Products of `slot`'s tiles.
static SmallVector<MmaStartOp> productsOf(Value slot) {
  SmallVector<MmaStartOp> products;
  SmallVector<Value> tiles;
  for (Operation *user : slot.getUsers())
    if (isa<PartOp>(user))
      tiles.push_back(user->getResult(0));
  for (size_t i = 0; i < tiles.size(); ++i)
    for (Operation *user : tiles[i].getUsers())
      if (auto product = dyn_cast<MmaStartOp>(user))
        products.push_back(product);
      else if (isa<TransposeOp>(user))
        tiles.push_back(user->getResult(0));
  return products;
}

LogicalResult ReleaseOp::verify() {
  auto fail = [&](MmaStartOp product) {
    auto error = emitOpError("gives back a slot that a product may still read: settle it or wait for it before");
    error.attachNote(product.getLoc()) << "the product";
    return error;
  };
  for (MmaStartOp product : productsOf(getSlot()))
    if (precedes(product, *this) && !isSettledBefore(product.getResult(), *this))
      return fail(product);
  // A slot that a loop carries: its products of the step before are what the loop carries, too.
  auto argument = dyn_cast<BlockArgument>(getSlot());
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : getSlot().getDefiningOp<scf::ForOp>();
  if (!loop)
    return success();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  unsigned number = argument ? argument.getArgNumber() - 1 : cast<OpResult>(getSlot()).getResultNumber();
  for (MmaStartOp product : productsOf(yield.getOperand(number))) {
    if (!loop->isProperAncestor(product) || isSettledBefore(product.getResult(), yield))
      continue;
    auto carried = llvm::find(yield.getOperands(), product.getResult());
    if (carried == yield.getOperands().end())
      continue; // not in this release's sight
    unsigned at = carried - yield.getOperands().begin();
    if (!isSettledBefore(argument ? Value(loop.getRegionIterArg(at)) : loop.getResult(at), *this))
      return fail(product);
  }
  return success();
}
