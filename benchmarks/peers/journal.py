"""What a run has measured so far, a line of JSON a row, so that one that is cut off can go on."""

import dataclasses
import json

from harness import Result


class Journal:
    """measured: {row: Results}. A new run begins an empty one; a resumed one goes on with what the same machine has measured."""

    def __init__(self, path, machine, resume):
        self.path, self.measured = path, {}
        lines = path.read_text().splitlines() if resume and path.exists() else []
        if lines and json.loads(lines[0])["machine"] != machine:
            raise ValueError(f"{path} is of another machine: {json.loads(lines[0])['machine']}")
        if not lines:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"machine": machine}) + "\n")
        for line in lines[1:]:
            row = json.loads(line)
            self.measured[row["row"]] = [Result(**result) for result in row["results"]]

    def add(self, row, results):
        self.measured[row] = results
        with self.path.open("a") as file:
            file.write(json.dumps({"row": row, "results": [dataclasses.asdict(result) for result in results]}) + "\n")
