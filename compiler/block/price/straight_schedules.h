#pragma once
// Schedules of kernels that multiply once, one product after the other, for Hopper's warpgroups.
#include "compiler/block/price/schedule.h"

namespace tilery::block {

/// All that fit, cheapest first.
std::vector<Candidate> priceStraightSchedules(const ScheduleProblem &problem);
/// Of a program, as the model has it: no other one's waits hide what they hide.
double cyclesOfProgram(const ScheduleProblem &problem, const Schedule &schedule);
/// Whether the registers of those that multiply hold so many words at once, beside all else. `rows`: of the products.
bool holdsWords(unsigned words, unsigned rows);
const char *boundOfProgram(const ScheduleProblem &problem, const Schedule &schedule);

} // namespace tilery::block
