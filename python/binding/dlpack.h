#pragma once
// The parts of DLPack 1.x that the launch reads (dmlc/dlpack, include/dlpack/dlpack.h).
#include <cstdint>

namespace tilery::dlpack {
struct Version {
  uint32_t major, minor;
};
struct Device {
  int32_t kind, index;
};
struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
enum Code : uint8_t {
  Int = 0,
  UInt = 1,
  Float = 2,
  Bfloat = 4,
  Complex = 5,
  Bool = 6,
  Float8E4M3Fn = 10,
  Float8E4M3Fnuz = 11,
  Float8E5M2 = 12,
  Float8E5M2Fnuz = 13,
  Float8E8M0Fnu = 14
};
struct Tensor {
  void *data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t *shape;
  int64_t *strides; // in elements; before 1.2 null for row-major
  uint64_t byteOffset;
};
struct ManagedTensor {
  Tensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *);
};

// The capsule `type(x).__dlpack_c_exchange_api__`, "dlpack_exchange_api".
struct ExchangeHeader {
  Version version;
  ExchangeHeader *previous;
};
struct ExchangeApi {
  ExchangeHeader header;
  void *allocate;
  void *managedFromObject;
  void *managedToObject;
  int (*tensorFromObject)(void *object, Tensor *out); // borrowed: valid while the object is not changed
  int (*currentWorkStream)(int32_t deviceKind, int32_t deviceIndex, void **stream);
};
} // namespace tilery::dlpack
