#pragma once
// What NVIDIA's assembler says beside its machine code.
#include <string_view>

namespace tilery::cuda {

/// Throws Error with the first line of the log that carries a code of the C75xx family, "(C7510) ...": the assembler has serialised matrix
/// instructions or ignored one of ours. The result would be right and slow: a defect of the code generator.
void checkAssemblerLog(std::string_view log);

} // namespace tilery::cuda
