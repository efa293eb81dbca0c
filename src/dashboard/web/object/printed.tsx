/** The columns that the server prints of one object, as `kubectl get -o wide`. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../api/request.ts";
import { objectPath } from "../api/resources.ts";
import { type ServerTable, TABLE } from "../api/server-table.ts";
import type { ObjectPlace } from "../route.ts";
import { sleep } from "../time.ts";

/** Changes come in groups. */
const REPRINT_MS = 300;
/** Said by the head of the page. */
const KNOWN = new Set(["Name", "Age", "Created At"]);

export function Printed({ place, version }: { readonly place: ObjectPlace; readonly version: string | undefined }) {
  const table = useSignal<ServerTable | undefined>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    void sleep(table.peek() === undefined ? 0 : REPRINT_MS, abort.signal).then(async () => {
      if (abort.signal.aborted) return;
      // The watch of the object reports what is wrong.
      const answer = await ask<ServerTable>(objectPath(place), { accept: TABLE, signal: abort.signal }).catch(
        () => undefined,
      );
      if (answer !== undefined) table.value = answer;
    });
    return () => abort.abort();
  }, [place, version, table]);
  const [row] = table.value?.rows ?? [];
  if (row === undefined) return null;
  return (
    <>
      {table.value?.columnDefinitions.map(({ name }, at) => {
        const cell = row.cells[at];
        if (KNOWN.has(name) || cell === null || cell === undefined || cell === "") return null;
        return (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{String(cell)}</dd>
          </div>
        );
      })}
    </>
  );
}
