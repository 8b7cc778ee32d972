#ifndef TILE_REGION_TD
#define TILE_REGION_TD
include "compiler/ir/TileTypes.td"

def Tile_ParallelOp : Tile_Op<"parallel", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "scalar body over a box of run-time extents, unordered, race-free except for atomics";
  let description = "The region's arguments have the types of `extents` (i32 or i64) and run over 0 <= i_d < extents[d].";
  let arguments = (ins Variadic<AnySignlessInteger>:$extents);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $extents `)` $body attr-dict `:` type($extents)";
  let hasVerifier = 1;
}
def Tile_ThreadsOp : Tile_Op<"threads", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "the body runs once for each of `count` threads side by side; the region's argument is the thread id (i32)";
  let description = [{
    Threads share global memory and the buffers from outside; a buffer that the body allocates is the thread's own. A value from outside is
    the same in all. The op ends when all threads have ended. Between two `sync` or `together` nothing orders the effects of different threads.
  }];
  let arguments = (ins I64Attr:$count);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count $body attr-dict";
  let hasVerifier = 1;
}
def Tile_TogetherOp : Tile_Op<"together", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "inside `threads`: all threads meet, the body is carried out once, all go on with what it yields";
  let description = [{
    Every thread reaches it (divergence is an error), and what the body takes from outside is the same in all: values are, and of a buffer that
    each thread has for itself the body touches thread 0's. Memory effects of all threads before are visible in the body, its own after it.
  }];
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict (`->` type($results)^)?";
  let hasVerifier = 1;
}
def Tile_RolesOp : Tile_Op<"roles", [RecursiveMemoryEffects, NoTerminator]> {
  let summary = "regions that run side by side and meet at the end; threads[i] threads run region i";
  let description = "A region without arguments is one sequence of tile ops that threads[i] threads carry out together; a `threads` in it has this count. Roles order their effects by barriers only.";
  let arguments = (ins DenseI64ArrayAttr:$threads);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let assemblyFormat = "$threads $bodies attr-dict";
  let hasVerifier = 1;
}
def Tile_SyncOp : Tile_Op<"sync", [MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>, MemWrite<BufferMemory>, MemWrite<GlobalMemory>]>]> {
  let summary = "the threads of the enclosing `threads` that come here meet; memory effects before are visible after";
  let description = [{
    With `width`, those of one group of `width` threads. Who comes is decided by the branches around it, as far as the numbers of threads
    alone decide those: all wait for all of these. Where data decides, all threads wait at one place: meeting at different ones is an
    error of the program. Threads that have ended are not waited for. Outside `threads` there is nothing to wait for.
  }];
  let arguments = (ins DefaultValuedAttr<I64Attr, "0">:$width);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Tile_ShuffleMode : I32EnumAttr<"ShuffleMode", "source lane", [
    I32EnumAttrCase<"idx", 0>, I32EnumAttrCase<"up", 1>, I32EnumAttrCase<"down", 2>, I32EnumAttrCase<"xor_", 3, "xor">]> {
  let cppNamespace = "::tilery::tile";
}
def Tile_ShuffleOp : Tile_Op<"shuffle", [MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>]>]> {
  let summary = "value of another thread of the same group of `width` threads; a source outside the group gives the own value";
  let description = "With l the own place in the group: idx reads place `lane`, up l - lane, down l + lane, xor l ^ lane. All threads of the group execute it together.";
  let arguments = (ins Tile_ShuffleMode:$mode, Tile_Scalar:$value, I32:$lane, DefaultValuedAttr<I64Attr, "32">:$width);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$mode $value `,` $lane attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_VoteMode : I32EnumAttr<"VoteMode", "what a vote answers", [
    I32EnumAttrCase<"any", 0>, I32EnumAttrCase<"all", 1>, I32EnumAttrCase<"ballot", 2>, I32EnumAttrCase<"count", 3>]> {
  let cppNamespace = "::tilery::tile";
}
def Tile_VoteOp : Tile_Op<"vote", [MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>]>]> {
  let summary = "a predicate over the group of `width` threads (0: all threads): any and all give i1, ballot and count i32";
  let description = "any, all: of the predicates. count: how many are true. ballot: bit l is the predicate of place l (l < 32).";
  let arguments = (ins Tile_VoteMode:$mode, I1:$predicate, DefaultValuedAttr<I64Attr, "32">:$width);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$mode $predicate attr-dict `->` type($result)";
  let hasVerifier = 1;
}
def Tile_WarpDotOp : Tile_Op<"warp_dot", [MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>]>, AttrSizedOperandSegments]> {
  let summary = "c + a * b of 16 x K and K x 8 elements that the 32 threads of a warp hold in parts";
  let description = [{
    K is 32 bytes of elements, 4 for f64. With l the own place in the warp, g = l / 4, t = l % 4, and w the elements in 32 bits (at least 1), a thread holds
    a[i] = A[g + 8 * (i / w % 2), w * t + i % w + 4 * w * (i / (2 * w))], b[i] = B[w * t + i % w + 4 * w * (i / w), g],
    c[i] = C[g + 8 * (i / 2), 2 * t + i % 2], and gets the same elements of the result as it has of c. The sums are those of `dot`; f32
    factors may be rounded to tf32. All threads of a warp execute it together.
  }];
  let arguments = (ins Variadic<Tile_Scalar>:$a, Variadic<Tile_Scalar>:$b, Variadic<Tile_Scalar>:$c, UnitAttr:$a_unsigned, UnitAttr:$b_unsigned);
  let results = (outs Variadic<Tile_Scalar>:$result);
  let assemblyFormat = "`[` $a `]` `,` `[` $b `]` `,` `[` $c `]` attr-dict `:` `[` type($a) `]` `,` `[` type($b) `]` `,` `[` type($c) `]` `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getDepth() { return 4 * getB().size(); }
    /// Elements in 32 bits.
    int64_t getPerWord() { return std::max<int64_t>(1, 32 / getA()[0].getType().getIntOrFloatBitWidth()); }
  }];
}
def Tile_BarrierAllocOp : Tile_Op<"barrier_alloc", [MemoryEffects<[MemAlloc<Synchronisation>]>]> {
  let summary = "a ring of barriers, each completing a phase after arrivals[i] arrivals and its expected bytes";
  let description = "Each barrier starts in phase 0. When its arrivals are in and the expected bytes have come, the phase completes and the next begins with the same arrivals.";
  let arguments = (ins DenseI64ArrayAttr:$arrivals);
  let results = (outs Tile_Barrier:$result);
  let assemblyFormat = "$arrivals attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Tile_BarrierArriveOp : Tile_Op<"barrier_arrive", [MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>]>]> {
  let summary = "`count` arrivals; with `bytes`, the phase also waits for that many bytes of asynchronous copies";
  let description = "Does not wait. `bytes` adds to the bytes that the current phase expects. The arrivals of one op belong to one phase: more than it lacks are an error.";
  let arguments = (ins Tile_Barrier:$barrier, AnySignlessInteger:$index, OptionalAttr<I64Attr>:$bytes, DefaultValuedAttr<I64Attr, "1">:$count);
  let assemblyFormat = "$barrier `[` $index `]` attr-dict `:` type($barrier) `,` type($index)";
  let hasVerifier = 1;
}
def Tile_BarrierWaitOp : Tile_Op<"barrier_wait", [MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>, MemWrite<BufferMemory>, MemWrite<GlobalMemory>]>]> {
  let summary = "waits until the phase of parity `parity` has completed";
  let description = "The phases count 0, 1, 2, ...; returns once the current phase's parity differs from `parity`: waiting for parity 1 on a new barrier returns at once.";
  let arguments = (ins Tile_Barrier:$barrier, AnySignlessInteger:$index, AnySignlessInteger:$parity);
  let assemblyFormat = "$barrier `[` $index `]` `,` $parity attr-dict `:` type($barrier) `,` type($index) `,` type($parity)";
}
def Tile_AsyncCopyOp : Tile_Op<"async_copy", [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<BufferMemory>, MemWrite<Synchronisation>]>]> {
  let summary = "reads a view into a buffer and credits the bytes to a barrier; done when its phase completes";
  let description = "buffer[i...] = view[i...], 0 where a lane does not exist; credits the bytes of the whole buffer to the barrier's current phase. Nothing orders it with other effects before that phase completes.";
  let arguments = (ins Tile_View:$view, Tile_Buffer:$buffer, Tile_Barrier:$barrier, AnySignlessInteger:$index);
  let assemblyFormat = "$view `,` $buffer `,` $barrier `[` $index `]` attr-dict `:` type($view) `,` type($buffer) `,` type($barrier) `,` type($index)";
  let hasVerifier = 1;
}
#endif
