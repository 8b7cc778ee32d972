#include "compiler/barriers/model.h"
#include <gtest/gtest.h>

using namespace tilery::barriers;

namespace {
std::string textOf(const std::vector<Agent> &agents, const Names &names = {}) {
  std::optional<Fault> fault = faultOf(agents, names);
  return fault ? fault->text : "none";
}

/// A producer that fills a ring of stages for consumers, as the Hopper matmul does, and what may be wrong with it.
struct Ring {
  uint32_t stages = 3, consumers = 2, steps = 10;
  uint32_t fullArrivals = 1, emptyArrivals = 2, copyBytes = 1024, expected = 2048;
  uint32_t producerParity = 1, consumerParity = 0; // of the first round
  uint32_t lag = 1;                                // steps that products run on before their stage is given back
  uint32_t pending = 1;                            // groups of products that run on after the wait
  bool consumersWait = true, producerWaits = true, lastRelease = true, initialise = true, meet = true, frozenPhase = false;

  SharedAddress full(uint32_t i) const { return {0, 16 * (i % stages)}; }
  SharedAddress empty(uint32_t i) const { return {0, 16 * (i % stages) + 8}; }
  SharedAddress stage(uint32_t i) const { return {0, 1024 + 2 * copyBytes * (i % stages)}; }
  uint32_t parity(uint32_t i) const { return frozenPhase ? 0 : i / stages & 1; }

  std::vector<Agent> agents() const {
    Agent producer{"the producer", 0, {}, true};
    auto add = [](Agent &agent, Event::Kind kind, SharedAddress at = {}, uint32_t count = 0, SharedAddress data = {}) {
      agent.events.push_back({kind, at, count, data});
    };
    if (initialise)
      for (uint32_t s = 0; s < stages; ++s) {
        add(producer, Event::Init, full(s), fullArrivals);
        add(producer, Event::Init, empty(s), emptyArrivals);
      }
    if (meet)
      add(producer, Event::Meet);
    for (uint32_t i = 0; i < steps; ++i) {
      if (producerWaits)
        add(producer, Event::Wait, empty(i), parity(i) ^ producerParity);
      add(producer, Event::Arrive, full(i), expected);
      for (uint32_t part = 0; part < 2; ++part)
        add(producer, Event::Copy, full(i), copyBytes, {0, stage(i).offset + part * copyBytes});
    }
    std::vector<Agent> all{producer};
    for (uint32_t c = 0; c < consumers; ++c) {
      Agent consumer{"warpgroup " + std::to_string(c + 1), 0, {}, true};
      if (meet)
        add(consumer, Event::Meet);
      for (uint32_t i = 0; i < steps; ++i) {
        if (consumersWait)
          add(consumer, Event::Wait, full(i), parity(i) ^ consumerParity);
        for (uint32_t part = 0; part < 2; ++part)
          add(consumer, Event::Read, {0, stage(i).offset + part * copyBytes + 64 * c});
        add(consumer, Event::CommitReads);
        add(consumer, Event::WaitReads, {}, pending);
        if (i >= lag)
          add(consumer, Event::Arrive, empty(i - lag));
      }
      add(consumer, Event::WaitReads, {}, 0);
      for (uint32_t i = steps - lag; lastRelease && i < steps; ++i)
        add(consumer, Event::Arrive, empty(i));
      all.push_back(consumer);
    }
    return all;
  }
  std::string fault() const { return textOf(agents()); }
};
} // namespace

TEST(BarrierModel, RingsThatAreRight) {
  for (uint32_t stages : {1, 2, 3, 8})
    for (uint32_t consumers : {1, 2, 3})
      for (uint32_t steps : {1, 2, 7, 25})
        for (uint32_t lag : {0, 1}) {
          Ring ring{stages, consumers, steps};
          ring.emptyArrivals = consumers;
          ring.lag = ring.pending = lag;
          if (lag < stages && lag <= steps)
            EXPECT_EQ(ring.fault(), "none") << stages << " stages, " << consumers << " consumers, " << steps << " steps";
        }
}

TEST(BarrierModel, WrongPhase) {
  EXPECT_EQ(Ring{.producerParity = 0}.fault(), "the producer waits for ever: empty barrier 0 has completed no phase, and nobody "
                                               "is left to arrive in phase 0, of parity 0");
  EXPECT_EQ(
      Ring{.consumerParity = 1}.fault(),
      "warpgroup 1 waits for ever: full barrier 0 has completed 1 phase, of which this role has waited for none: a wait with "
      "parity 1 passes over phase 0");
  EXPECT_EQ(Ring{.frozenPhase = true}.fault(), "full barrier 0 gets more than its 1 arrivals in a phase, from the producer")
      << "the second round waits for the first one's phase";
}

TEST(BarrierModel, WrongCount) {
  EXPECT_EQ(Ring{.emptyArrivals = 3}.fault(),
            "the producer waits for ever: empty barrier 0 counts 3 arrivals a phase and gets 2");
  EXPECT_EQ(Ring{.fullArrivals = 2}.fault(), "warpgroup 1 waits for ever: full barrier 0 counts 2 arrivals a phase and gets 1");
  EXPECT_EQ(Ring{.fullArrivals = 0}.fault(), "a barrier at byte 0 counts no arrivals");
  EXPECT_EQ(Ring{.emptyArrivals = 1}.fault(), "the producer copies over data of full barrier 0 that warpgroup 2 still reads")
      << "given back by the first consumer";
}

TEST(BarrierModel, WrongBytes) {
  EXPECT_EQ(Ring{.expected = 2049}.fault(), "warpgroup 1 waits for ever: full barrier 0 expects 1 bytes that never come");
  EXPECT_EQ(Ring{.expected = 1024}.fault(),
            "full barrier 0 completes a phase before the 1024 bytes of a copy that began in it are there: it expects too few");
  EXPECT_EQ((Ring{.steps = 1, .expected = 0}.fault()),
            "warpgroup 1 reads data at byte 1024 before it has arrived: it waits for the wrong phase, or for too few bytes");
}

TEST(BarrierModel, WhatIsReadAndOverwritten) {
  const char *stillRead = "the producer copies over data of full barrier 0 that warpgroup 2 still reads";
  EXPECT_EQ(Ring{.lag = 0}.fault(), stillRead) << "given back while the products still run";
  EXPECT_EQ(Ring{.pending = 2}.fault(), stillRead) << "two groups still run when the first one's stage is given back";
  EXPECT_EQ(Ring{.consumersWait = false}.fault(),
            "data of full barrier 0 is overwritten before warpgroup 1 has read it: it is released too early, or not waited for");
  EXPECT_EQ(Ring{.producerWaits = false}.fault(), "full barrier 0 gets more than its 1 arrivals in a phase, from the producer");
}

TEST(BarrierModel, WhatIsTakenNeedNotBeRead) {
  // A program without steps takes its slot and gives it back.
  for (auto [skipped, rounds] : {std::pair{0, 1}, {0, 5}, {3, 1}, {7, 3}}) {
    Ring ring{.lag = 0, .pending = 0};
    std::vector<Agent> agents = ring.agents();
    for (Agent &agent : agents) {
      uint32_t wait = 0; // which wait for a full slot came last
      std::erase_if(agent.events, [&](const Event &event) {
        wait += event.kind == Event::Wait && agent.name != "the producer";
        return event.kind == Event::Read && int(wait) > skipped && int(wait) <= skipped + rounds;
      });
    }
    EXPECT_EQ(textOf(agents), "none") << "from step " << skipped << ", " << rounds << " steps";
    // What is given back too early is found in the other steps.
    for (Event &event : agents[1].events)
      if (event.kind == Event::WaitReads)
        event.count = 1;
    EXPECT_NE(textOf(agents), "none");
  }
}

// Two agents wait for every other phase each: who says which one he means is told from one who reads what came before, or after.
TEST(BarrierModel, EveryOtherPhase) {
  const SharedAddress full{0, 0}, empty{0, 8}, turns[] = {{0, 16}, {0, 24}}, data{0, 32};
  auto agents = [&](uint32_t meant) {
    std::vector<Agent> agents{{"the producer",
                               0,
                               {{Event::Init, full, 1},
                                {Event::Init, empty, 1},
                                {Event::Init, turns[0], 1},
                                {Event::Init, turns[1], 1},
                                {Event::Meet, {}}},
                               true},
                              {"the first", 0, {{Event::Meet, {}}}, true},
                              {"the second", 0, {{Event::Meet, {}}}, true}};
    for (uint32_t step = 0; step < 6; ++step) {
      for (Event event :
           {Event{Event::Wait, empty, (step + 1) & 1}, Event{Event::Copy, full, 64, data}, Event{Event::Arrive, full, 64}})
        agents[0].events.push_back(event);
      Event wait{Event::Wait, full, step & 1};
      if (meant)
        wait.phase = step;
      std::vector<Event> &who = agents[1 + step % 2].events;
      if (step && meant != 2) // behind the other one's step: parity alone does not say that the phase before is over
        who.push_back({Event::Wait, turns[step % 2], (step - 1) / 2 & 1});
      for (Event event : {wait, Event{Event::Read, data}, Event{Event::CommitReads, {}}, Event{Event::WaitReads, {}},
                          Event{Event::Arrive, turns[(step + 1) % 2]}, Event{Event::Arrive, empty}})
        who.push_back(event);
    }
    return agents;
  };
  EXPECT_TRUE(faultOf(agents(0))) << "by parity alone the second would take phase 3 for phase 1";
  EXPECT_EQ(textOf(agents(1)), "none");
  EXPECT_TRUE(faultOf(agents(2))) << "not by turns";
}

TEST(BarrierModel, Beginnings) {
  EXPECT_EQ(Ring{.initialise = false}.fault(), "the producer uses a barrier at byte 8 before it is initialised");
  EXPECT_EQ(Ring{.meet = false}.fault(), "warpgroup 1 uses a barrier at byte 0 before it is initialised");
  std::vector<Agent> alone = Ring{.steps = 1}.agents();
  alone[1].events.erase(alone[1].events.begin()); // does not come to the meeting
  EXPECT_TRUE(faultOf(alone));
}

// What users are told: names of theirs, arrivals as they count them, and where the event came from.
TEST(BarrierModel, NamesAndPlaces) {
  const SharedAddress full{0, 0}, empty{0, 8};
  const Names names{{full, {"`full`", 64}}, {empty, {"`empty`", 64}}};
  int places[4] = {};
  auto fault = [&](uint32_t arrivals, std::vector<Event> producer, std::vector<Event> consumer) {
    std::vector<Agent> agents{{"one", 0, {{Event::Init, full, arrivals}, {Event::Init, empty, 1}, {Event::Meet, {}}}, true},
                              {"two", 0, {{Event::Meet, {}}}, true}};
    for (auto [i, part] : {std::pair{0, &producer}, {1, &consumer}})
      for (Event event : *part) {
        event.source = &places[2 * i + (event.kind == Event::Wait)];
        agents[i].events.push_back(event);
      }
    return faultOf(agents, names);
  };
  const Event arrive{Event::Arrive, full}, wait{Event::Wait, full}, release{Event::Arrive, empty}, acquire{Event::Wait, empty};
  EXPECT_FALSE(fault(1, {arrive, acquire}, {wait, release}));

  std::optional<Fault> few = fault(2, {arrive, acquire}, {wait, release});
  ASSERT_TRUE(few);
  EXPECT_EQ(few->text, "two waits for ever: `full` counts 128 arrivals a phase and gets 64");
  EXPECT_EQ(few->source, &places[3]);
  ASSERT_EQ(few->waiting.size(), 1u);
  EXPECT_EQ(few->waiting.front().first, &places[1]);
  EXPECT_EQ(few->waiting.front().second, "`empty`");

  EXPECT_EQ(fault(1, {acquire}, {wait, release})->text, "two waits for ever: nobody arrives at `full`");
  EXPECT_EQ(fault(1, {acquire}, {wait, release})->source, &places[3]);
  Event more = arrive;
  more.continues = true;
  EXPECT_EQ(
      fault(1, {arrive, more, acquire}, {wait, release})->text,
      "two waits for ever: `full` counts 64 arrivals a phase, and more threads arrive together: they end a phase and begin the "
      "next one");
  EXPECT_FALSE(fault(2, {arrive, more, acquire}, {wait, release})) << "as many as it counts";
  EXPECT_EQ(fault(1, {arrive, arrive, acquire}, {wait, release})->text,
            "two waits for ever: `full` has completed 2 phases before this wait for its phase 0 came: who arrives there does not "
            "wait for this role");
}

TEST(BarrierModel, ATraceThatIsCutShortIsNoFault) {
  std::vector<Agent> agents = Ring{.steps = 25}.agents();
  agents[1].events.resize(30);
  EXPECT_TRUE(faultOf(agents));
  agents[1].complete = false;
  EXPECT_FALSE(faultOf(agents));
}
