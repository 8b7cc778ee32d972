"""One case in a process of its own: checked, then timed on a GPU."""

import json
import os
import statistics
import time
import traceback

CACHE = 256 << 20  # bytes that take the place of all of the L2 cache
CALLS, SECONDS = 30, 0.06


def flat(result):
    if isinstance(result, (tuple, list)):
        return [tensor for part in result for tensor in flat(part)]
    return [] if result is None else [result]


def difference(got, expected):
    """(relative Frobenius error, what does not fit at all or "")."""
    import torch

    if got.numel() != expected.numel():
        return float("inf"), f"sizes {tuple(got.shape)} for {tuple(expected.shape)}"
    got, expected = (tensor.detach().to(torch.float64).flatten() for tensor in (got, expected.to(got.device)))
    finite = torch.isfinite(got), torch.isfinite(expected)
    odd = int((finite[0] != finite[1]).sum())
    both = finite[0] & finite[1]
    got, expected = torch.where(both, got, 0.0), torch.where(both, expected, 0.0)
    error = float((got - expected).norm()) / max(float(expected.norm()), 1e-30)
    return error, f"{odd} of {got.numel()} finite in one only" if odd else ""


def microseconds(call):
    """The median of some calls by events, with the L2 cache emptied before each."""
    import torch

    junk = torch.empty(CACHE, dtype=torch.uint8, device="cuda")
    call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    count = max(3, min(CALLS, int(SECONDS / max(time.perf_counter() - start, 1e-6))))
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
    for begin, end in pairs:
        junk.zero_()
        junk.zero_()  # long enough that the host's part of the call hides behind it
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) * 1e3 for begin, end in pairs)


def microseconds_beside(ours, theirs, rounds=9, seconds=0.02):
    """Medians of both on a CPU, by turns, each for so long a round."""
    calls, times = [ours, theirs], ([], [])
    for round in range(rounds + 1):
        for call, mine in zip(calls, times):
            start, count = time.perf_counter(), 0
            while not count or time.perf_counter() - start < seconds:
                call()
                count += 1
            if round:  # the first one warms up
                mine.append((time.perf_counter() - start) / count * 1e6)
    return map(statistics.median, times)


def checked(case, result):
    got, expected = flat(case.seen(result)), flat(case.expected())
    found = [difference(a, b) for a, b in zip(got, expected)]
    flag = "; ".join(text for _, text in found if text)
    if len(got) != len(expected):
        flag = f"{len(got)} results for {len(expected)}"
    return {
        "errors": [float(f"{error:.2e}") for error, _ in found],
        "ok": not flag and all(error <= case.tolerance for error, _ in found),
        **({"flag": flag} if flag else {}),
    }


def run(make, warm, small):
    """The row's figures; exceptions are the caller's. The reference comes before the timed calls, which may change inputs."""
    import torch

    clock = time.process_time if small else time.perf_counter  # other work on the machine matters little to the former

    def first():
        torch.manual_seed(0)
        start = clock()
        case = make()
        result = case.call()
        torch.cuda.synchronize()
        return case, result, clock() - start

    seconds = first()[2]
    row = {"first_s": round(seconds, 2)}
    if warm:
        return row
    case, result, second = first()  # what is left without compilation; and inputs as they were
    row["compile_s"] = round(max(0.0, seconds - second), 2)
    row.update(checked(case, result))
    if not small:
        row["us"] = round(microseconds(case.call), 2)
    elif not os.environ.get("TILERY_EMULATE"):
        row["us"], row["torch_us"] = (round(us, 2) for us in microseconds_beside(case.call, case.expected))
    return row


def child(name, make, warm, small, reply, begin):
    """Writes a JSON line to the file descriptor `reply` when all is imported, waits for a line of the file `begin`, and writes
    the row."""
    import case
    import tilelang  # noqa: F401
    import torch

    torch.set_num_threads(2 if small else 8)
    torch.zeros(1, device="cuda")  # makes the context, which takes a second
    case.import_ahead(make)
    os.write(reply, b"ready\n")
    begin.readline()
    try:
        row = run(make, warm, small)
    except Exception as error:
        traceback.print_exc()
        row = {"failed": f"{type(error).__name__}: {error}".strip()[:500]}
    os.write(reply, (json.dumps({"name": name, **row}) + "\n").encode())
    os._exit(0)  # not through destructors of a context that may be lost
