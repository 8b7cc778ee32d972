// Ops of BlockProduct.td.
#include "compiler/oracle/block.h"
#include "compiler/oracle/dot.h"

using namespace mlir;

namespace tilery::oracle {

/// A tile of zeros; also of what a product of none adds to.
static Tile zeros(Type type) { return Tile(elementOf(type), tile::shapeOf(type)); }

static void compute(Interpreter &in, Product &product) {
  if (product.result)
    return;
  block::MmaStartOp op = product.op;
  if (product.previous)
    compute(in, *product.previous);
  Tile a = product.sharedA ? readShared(in, op, *product.sharedA) : product.a;
  product.result = dot(in, a, readShared(in, op, product.b), product.previous ? *product.previous->result : product.c,
                       product.clear, op.getPrecision(), op.getAUnsigned(), op.getBUnsigned());
  product.previous.reset();
}

static void start(Interpreter &in, block::MmaStartOp op) {
  auto product = std::make_shared<Product>(Product{op, in.as<SharedTile>(op.getB())});
  product->c = zeros(op.getType().getTile());
  if (isa<block::SharedType>(op.getA().getType()))
    product->sharedA = in.as<SharedTile>(op.getA());
  else
    product->a = in.tile(op.getA());
  if (isa<block::PendingType>(op.getC().getType()))
    product->previous = in.as<Pending>(op.getC());
  else
    product->c = in.tile(op.getC());
  product->clear = op.getClear() && in.decide(op.getClear());
  in.role->products.push_back(product);
  if (!in.run.options.late)
    compute(in, *product);
  in.set(op.getResult(), std::move(product));
}

/// The product and all started before it end.
static void settle(Interpreter &in, const Pending &product) {
  auto &running = in.role->products;
  if (!product || !llvm::is_contained(running, product))
    return;
  for (bool last = false; !last; running.pop_front()) {
    last = running.front() == product;
    compute(in, *running.front());
  }
}

static void wait(Interpreter &in, block::MmaWaitOp op) {
  Pending product = in.as<Pending>(op.getProduct());
  settle(in, product);
  in.set(op.getResult(), product ? *product->result : zeros(op.getType()));
}

static Tile operand(Interpreter &in, Operation *op, Value value) {
  return isa<block::SharedType>(value.getType()) ? readShared(in, op, in.as<SharedTile>(value)) : in.tile(value);
}

void addBlockProductHandlers(Handlers &table) {
  table.add<block::MmaStartOp>(start);
  table.add<block::MmaSettleOp>([](Interpreter &in, block::MmaSettleOp op) { settle(in, in.as<Pending>(op.getProduct())); });
  table.add<block::MmaWaitOp>(wait);
  table.add<block::MmaOp>([](Interpreter &in, block::MmaOp op) {
    bool clear = op.getClear() && in.decide(op.getClear());
    in.set(op.getResult(), dot(in, operand(in, op, op.getA()), operand(in, op, op.getB()), in.tile(op.getC()), clear,
                               op.getPrecision(), op.getAUnsigned(), op.getBUnsigned()));
  });
}

} // namespace tilery::oracle
