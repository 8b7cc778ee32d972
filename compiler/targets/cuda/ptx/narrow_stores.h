#pragma once
// How registers are stored in fewer bytes than they have.
#include <string>
#include <string_view>

namespace tilery::cuda {

/// PTX with stores of whole registers alone. NVPTX stores the low bytes of a wider register in one instruction, as PTX says; ptxas (13.0) takes
/// the register's type from what computed it, and for an f32 or f64 stores the number converted to an integer, not its bits.
std::string narrowStores(std::string_view ptx);

} // namespace tilery::cuda
