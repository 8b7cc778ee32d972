// Barriers, the copy engine and shared memory by address, as PTX has them.
#include "compiler/block/ir/gpu.h"
#include "compiler/targets/cuda/ptx/ptx.h"
#include "compiler/targets/cuda/ptx/ptx_asm.h"
#include "compiler/targets/cuda/ptx/ptx_machine.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tilery::cuda {

llvm::CallInst *assembly(llvm::IRBuilder<> &b, const std::string &text, const std::string &constraints,
                         llvm::ArrayRef<llvm::Value *> args, llvm::Type *result) {
  llvm::SmallVector<llvm::Type *> types;
  for (llvm::Value *arg : args)
    types.push_back(arg->getType());
  auto *type = llvm::FunctionType::get(result ? result : b.getVoidTy(), types, false);
  std::string all = constraints.empty() ? "~{memory}" : constraints + ",~{memory}";
  auto *call = b.CreateCall(type, llvm::InlineAsm::get(type, text, all, /*hasSideEffects=*/true), args);
  call->setConvergent();
  return call;
}

// -- barriers

void PtxMachine::barrier(lower::Emitter &e) { assembly(e.b, "bar.sync 0;", "", {}); }
void PtxMachine::namedBarrier(lower::Emitter &e, Value *id, unsigned threads) {
  assembly(e.b, "bar.sync $0, " + std::to_string(threads) + ";", "r", {id});
}
void PtxMachine::warpBarrier(lower::Emitter &e, Value *mask) { assembly(e.b, "bar.warp.sync $0;", "r", {mask}); }
void PtxMachine::arriveNamed(lower::Emitter &e, Value *id, unsigned threads) {
  assembly(e.b, "bar.arrive $0, " + std::to_string(threads) + ";", "r", {id});
}

void PtxMachine::initBarrier(lower::Emitter &e, Value *barrier, unsigned arrivals) {
  assembly(e.b, "mbarrier.init.shared::cta.b64 [$0], " + std::to_string(arrivals) + ";", "r", {barrier});
}
void PtxMachine::fenceBarrierInit(lower::Emitter &e) {
  if (isHopper)
    assembly(e.b, "fence.mbarrier_init.release.cluster;", "", {});
}
void PtxMachine::arrive(lower::Emitter &e, Value *barrier) {
  assembly(e.b, "mbarrier.arrive.shared::cta.b64 _, [$0];", "r", {barrier});
}
void PtxMachine::arriveCopies(lower::Emitter &e, Value *barrier) {
  assembly(e.b, "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", "r", {barrier});
}
void PtxMachine::arrivePeer(lower::Emitter &e, Value *barrier) {
  assembly(e.b, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];", "r", {barrier});
}

/// "mbarrier.. [$0], 4096;" of a constant, which the check of barriers reads from the text; else "mbarrier.. [$0], $1;".
static void counted(llvm::IRBuilder<> &b, const std::string &instruction, llvm::Value *barrier, llvm::Value *bytes) {
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(bytes))
    assembly(b, instruction + "[$0], " + std::to_string(constant->getZExtValue()) + ";", "r", {barrier});
  else
    assembly(b, instruction + "[$0], $1;", "r,r", {barrier, bytes});
}
void PtxMachine::arriveExpect(lower::Emitter &e, Value *barrier, Value *bytes) {
  counted(e.b, "mbarrier.arrive.expect_tx.shared::cta.b64 _, ", barrier, bytes);
}
void PtxMachine::expectBytes(lower::Emitter &e, Value *barrier, Value *bytes) {
  counted(e.b, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 ", barrier, bytes);
}

void PtxMachine::waitBarrier(lower::Emitter &e, Value *barrier, Value *parity) {
  auto &b = e.b;
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto *loop = llvm::BasicBlock::Create(b.getContext(), "wait", function);
  auto *done = llvm::BasicBlock::Create(b.getContext(), "ready", function);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  std::string wait = isHopper ? "try_wait" : "test_wait";
  llvm::Value *ok =
      assembly(b, "{ .reg .pred p; mbarrier." + wait + ".parity.shared::cta.b64 p, [$1], $2; selp.u32 $0, 1, 0, p; }", "=r,r,r",
               {barrier, parity}, b.getInt32Ty());
  b.CreateCondBr(b.CreateICmpNE(ok, b.getInt32(0)), done, loop);
  b.SetInsertPoint(done);
}

// -- the copy engine

/// "{$3, $4}" and the constraints ",r,r" for as many coordinates.
static std::pair<std::string, std::string> coordinateList(size_t count, unsigned from) {
  std::string list, constraints;
  for (size_t i = 0; i < count; ++i) {
    list += (i ? ", $" : "{$") + std::to_string(from + i);
    constraints += ",r";
  }
  return {list + "}", constraints};
}

void PtxMachine::prefetchMap(lower::Emitter &e, Value *map) { assembly(e.b, "prefetch.tensormap [$0];", "l", {map}); }
// The map is changed by ordinary writes; fences let the copy engine see them, and forget what it knows of the map that was there.
void PtxMachine::makeMap(lower::Emitter &e, Value *place, Value *map, Value *base, Values extents, Values strides) {
  constexpr unsigned piece = 16;
  auto &b = e.b;
  llvm::Type *words = llvm::FixedVectorType::get(b.getInt64Ty(), piece / 8);
  llvm::Value *global = b.CreateAddrSpaceCast(place, b.getPtrTy(Global));
  for (unsigned at = 0; at < block::mapBytes; at += piece) {
    llvm::Value *from = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), map, at);
    b.CreateAlignedStore(b.CreateAlignedLoad(words, from, llvm::Align(piece)),
                         b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), global, at), llvm::Align(piece));
  }
  auto replace = [&](const std::string &field, const char *type, const char *kind, Value *value) {
    assembly(b,
             "tensormap.replace.tile." + field.substr(0, field.find(',')) + ".global.b1024." + type + " [$0]" +
                 (field.find(',') == std::string::npos ? "" : field.substr(field.find(','))) + ", $1;",
             std::string("l,") + kind, {global, value});
  };
  replace("global_address", "b64", "l", base);
  for (auto [d, extent] : llvm::enumerate(extents))
    replace("global_dim, " + std::to_string(d), "b32", "r", b.CreateTrunc(extent, b.getInt32Ty()));
  for (auto [d, stride] : llvm::enumerate(strides))
    replace("global_stride, " + std::to_string(d), "b64", "l", stride);
  assembly(b, "fence.proxy.tensormap::generic.release.gpu;", "", {});
  assembly(b, "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;", "l", {place});
}
void PtxMachine::loadBox(lower::Emitter &e, Value *shared, Value *map, Values coordinates, Value *barrier) {
  auto [list, constraints] = coordinateList(coordinates.size(), 3);
  llvm::SmallVector<Value *> args{shared, map, barrier};
  args.append(coordinates.begin(), coordinates.end());
  assembly(e.b,
           "cp.async.bulk.tensor." + std::to_string(coordinates.size()) +
               "d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, " + list + "], [$2];",
           "r,l,r" + constraints, args);
}
void PtxMachine::loadBytes(lower::Emitter &e, Value *shared, Value *global, Value *bytes, Value *barrier) {
  assembly(e.b, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r",
           {shared, e.b.CreateAddrSpaceCast(global, e.b.getPtrTy(Global)), bytes, barrier});
}
void PtxMachine::storeBox(lower::Emitter &e, Value *map, Values coordinates, Value *shared, bool add) {
  auto [list, constraints] = coordinateList(coordinates.size(), 2);
  llvm::SmallVector<Value *> args{map, shared};
  args.append(coordinates.begin(), coordinates.end());
  assembly(e.b,
           (add ? "cp.reduce.async.bulk.tensor." : "cp.async.bulk.tensor.") + std::to_string(coordinates.size()) +
               "d.global.shared::cta" + (add ? ".add" : "") + ".bulk_group [$0, " + list + "], [$1];",
           "l,r" + constraints, args);
}
void PtxMachine::storeBytes(lower::Emitter &e, Value *global, Value *shared, Value *bytes) {
  assembly(e.b, "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;", "l,r,r",
           {e.b.CreateAddrSpaceCast(global, e.b.getPtrTy(Global)), shared, bytes});
}
void PtxMachine::commitStores(lower::Emitter &e) { assembly(e.b, "cp.async.bulk.commit_group;", "", {}); }
void PtxMachine::waitStores(lower::Emitter &e, bool read, unsigned pending) {
  assembly(e.b, "cp.async.bulk.wait_group" + std::string(read ? ".read " : " ") + std::to_string(pending) + ";", "", {});
}
void PtxMachine::fenceProxy(lower::Emitter &e) {
  if (isHopper)
    assembly(e.b, "fence.proxy.async.shared::cta;", "", {});
}

// -- shared memory by address

/// What an access of `type` moves: words of 32 bits, or one register of fewer.
static std::pair<unsigned, llvm::Type *> wordsOf(lower::Emitter &e, llvm::Type *type) {
  unsigned bytes = e.module.getDataLayout().getTypeStoreSize(type).getFixedValue();
  return bytes >= 4 ? std::pair<unsigned, llvm::Type *>(bytes / 4, e.b.getInt32Ty())
                    : std::pair<unsigned, llvm::Type *>(1, e.b.getIntNTy(8 * bytes));
}

/// "st.shared.v2.b32" and "{$1, $2}".
static std::pair<std::string, std::string> wordAccess(const char *name, bool peer, unsigned words, llvm::Type *unit,
                                                      unsigned from) {
  std::string text = std::string(name) + (peer ? ".shared::cluster" : ".shared"), list;
  for (unsigned i = 0; i < words; ++i)
    list += (i ? ", $" : "$") + std::to_string(from + i);
  if (words > 1)
    text += ".v" + std::to_string(words), list = "{" + list + "}";
  return {text + ".b" + std::to_string(unit->getIntegerBitWidth()), list};
}

llvm::Value *PtxMachine::loadShared(lower::Emitter &e, llvm::Type *type, Value *address, bool peer) {
  auto &b = e.b;
  auto [words, unit] = wordsOf(e, type);
  auto [text, list] = wordAccess("ld", peer, words, unit, 0);
  bool narrow = unit->isIntegerTy(8); // bytes travel in registers of 16 bits
  llvm::Type *one = narrow ? b.getInt16Ty() : unit;
  std::string constraints;
  for (unsigned i = 0; i < words; ++i)
    constraints += unit->isIntegerTy(32) ? "=r," : "=h,";
  llvm::Type *result = words == 1 ? one : llvm::StructType::get(e.context(), llvm::SmallVector<llvm::Type *>(words, one));
  llvm::Value *read =
      assembly(b, text + " " + list + ", [$" + std::to_string(words) + "];", constraints + "r", {address}, result);
  if (words > 1) {
    llvm::Value *vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(unit, words));
    for (unsigned i = 0; i < words; ++i)
      vector = b.CreateInsertElement(vector, b.CreateExtractValue(read, i), uint64_t(i));
    read = vector;
  } else if (narrow) {
    read = b.CreateTrunc(read, unit);
  }
  return b.CreateBitCast(read, type);
}

void PtxMachine::storeShared(lower::Emitter &e, Value *address, Value *value, bool peer) {
  auto &b = e.b;
  auto [words, unit] = wordsOf(e, value->getType());
  auto [text, list] = wordAccess("st", peer, words, unit, 1);
  llvm::SmallVector<Value *> args{address};
  llvm::Value *bits = b.CreateBitCast(value, words > 1 ? llvm::FixedVectorType::get(unit, words) : unit);
  std::string constraints = "r";
  for (unsigned i = 0; i < words; ++i) {
    llvm::Value *word = words > 1 ? b.CreateExtractElement(bits, uint64_t(i)) : bits;
    args.push_back(unit->isIntegerTy(8) ? b.CreateZExt(word, b.getInt16Ty()) : word);
    constraints += unit->isIntegerTy(32) ? ",r" : ",h";
  }
  assembly(b, text + " [$0], " + list + ";", constraints, args);
}

void PtxMachine::storeMatrices(lower::Emitter &e, Value *row, Values matrices, bool transposed) {
  llvm::SmallVector<Value *> args{row};
  args.append(matrices.begin(), matrices.end());
  std::string list, constraints = "r";
  for (size_t i = 1; i <= matrices.size(); ++i) {
    list += (i > 1 ? ", $" : "{$") + std::to_string(i);
    constraints += ",r";
  }
  assembly(e.b,
           "stmatrix.sync.aligned.m8n8.x" + std::to_string(matrices.size()) + (transposed ? ".trans" : "") +
               ".shared.b16 [$0], " + list + "};",
           constraints, args);
}

llvm::Value *PtxMachine::permuteBytes(lower::Emitter &e, Value *low, Value *high, Value *which) {
  return e.b.CreateIntrinsic(e.b.getInt32Ty(), llvm::Intrinsic::nvvm_prmt, {low, high, which});
}

// -- clusters, launches, registers

llvm::Value *PtxMachine::clusterRank(lower::Emitter &e) {
  return e.b.CreateIntrinsic(e.b.getInt32Ty(), llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank,
                             llvm::ArrayRef<llvm::Value *>());
}
void PtxMachine::clusterBarrier(lower::Emitter &e) {
  assembly(e.b, "barrier.cluster.arrive.aligned;", "", {});
  assembly(e.b, "barrier.cluster.wait.aligned;", "", {});
}
llvm::Value *PtxMachine::peerAddress(lower::Emitter &e, Value *address, Value *rank) {
  return assembly(e.b, "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r", {address, rank}, e.b.getInt32Ty());
}
void PtxMachine::waitForLaunch(lower::Emitter &e) {
  assembly(e.b, "griddepcontrol.wait;", "", {});
  readsConstants = false;
}
void PtxMachine::letLaunchFollow(lower::Emitter &e) { assembly(e.b, "griddepcontrol.launch_dependents;", "", {}); }
void PtxMachine::setRegisters(lower::Emitter &e, unsigned count, bool more) {
  e.b.CreateIntrinsic(e.b.getVoidTy(),
                      more ? llvm::Intrinsic::nvvm_setmaxnreg_inc_sync_aligned_u32
                           : llvm::Intrinsic::nvvm_setmaxnreg_dec_sync_aligned_u32,
                      {e.b.getInt32(count)});
}
llvm::Value *PtxMachine::elect(lower::Emitter &e) {
  return e.b.CreateExtractValue(e.b.CreateIntrinsic(llvm::Intrinsic::nvvm_elect_sync, {}, {e.b.getInt32(-1)}), 1);
}
llvm::Value *PtxMachine::threadNow(lower::Emitter &e) { return assembly(e.b, "mov.u32 $0, %tid.x;", "=r", {}, e.b.getInt32Ty()); }
llvm::Value *PtxMachine::clock(lower::Emitter &e) {
  return assembly(e.b, "mov.u64 $0, %globaltimer;", "=l", {}, e.b.getInt64Ty());
}
llvm::Value *PtxMachine::processor(lower::Emitter &e) { return assembly(e.b, "mov.u32 $0, %smid;", "=r", {}, e.b.getInt32Ty()); }
llvm::Value *PtxMachine::here(lower::Emitter &e, Value *value) {
  return assembly(e.b, "mov.b32 $0, $1;", "=r,r", {value}, e.b.getInt32Ty());
}

} // namespace tilery::cuda
