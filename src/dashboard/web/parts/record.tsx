/** The records that a line of a diagram was drawn from. */
import type { ComponentChildren } from "preact";
import type { FlowRecord, Line } from "#flows";
import { KNOWN } from "../api/resources.ts";
import { objectRoute } from "../route.ts";

const MOST = 12;

export function RecordPanel({ line, onClose }: { readonly line: Line; readonly onClose: () => void }) {
  return (
    <aside class="record" aria-label="The chosen step">
      <div class="record-head">
        <h2>
          {line.from === line.to ? line.from : `${line.from} → ${line.to}`}
          {line.times > 1 && ` ×${line.times}`}
        </h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      <p class="dim">{line.text}</p>
      {line.records.slice(0, MOST).map((record) => (
        <Facts key={record.seq} record={record} />
      ))}
      {line.records.length > MOST && <p class="dim">and {line.records.length - MOST} more like these</p>}
    </aside>
  );
}

function Facts({ record }: { readonly record: FlowRecord }) {
  return (
    <div class="facts-box">
      <dl class="facts">
        <Fact name="Time">{new Date(record.at).toISOString().slice(11, 23)}</Fact>
        {factsOf(record).map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </dl>
      <details>
        <summary>Record {record.seq}</summary>
        <pre>{JSON.stringify(record, undefined, 2)}</pre>
      </details>
    </div>
  );
}

/** Long values: each has its own line. */
const LONG = new Set(["Admission", "Read", "Calls", "To"]);

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class={LONG.has(name) ? "long" : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function factsOf(record: FlowRecord): [string, ComponentChildren][] {
  switch (record.type) {
    case "request": {
      const { user, verb, status, reason, authorization, admission, tookMs, written, cause } = record;
      const { admissionMicroseconds: times = {} } = record;
      const facts: [string, ComponentChildren][] = [
        ["Request", `${verb} ${record.resource}${record.subresource === "" ? "" : `/${record.subresource}`}`],
        ["Object", <ObjectLink key="object" {...record} />],
        ["User", user],
        ["Answer", `${status}${reason === undefined ? "" : ` ${reason}`}, after ${tookMs.toFixed(1)} ms`],
      ];
      if (authorization !== undefined) facts.push(["Allowed by", authorization]);
      if (admission !== undefined && admission.length > 0)
        facts.push(["Admission", admission.map((plugin) => plugin + tookOf(times[plugin])).join(", ")]);
      if (written !== undefined) facts.push(["Written", `${written.change} @${written.revision}`]);
      facts.push(["Cause", cause ?? "none: the flow starts here"]);
      return facts;
    }
    case "work": {
      const { actor, about, woken, read = [], decided, tookMs, calls, claimed, foreignClock } = record;
      const facts: [string, ComponentChildren][] = [
        ["Reconcile of", `${actor}${claimed ? " (self-reported)" : ""}`],
        ["About", about],
        ["Triggered by", woken.length === 0 ? "no change" : woken.map((revision) => `@${revision}`).join(" ")],
        ["Took", `${tookMs.toFixed(1)} ms${foreignClock ? ", by another process's clock" : ""}`],
      ];
      if (read.length > 0) facts.push(["Read", read.join(", ")]);
      if (decided !== "") facts.push(["Decided", decided]);
      if (calls.length > 0)
        facts.push([
          "Calls",
          calls.map(({ to, what, failed }) => `${to} ${what}${failed === undefined ? "" : `: ${failed}`}`).join("; "),
        ]);
      return facts;
    }
    case "delivery":
      return [
        ["Told", `${record.change} @${record.revision}`],
        ["Object", <ObjectLink key="object" {...record} />],
        ["To", record.to.join(", ")],
      ];
  }
}

function tookOf(microseconds: number | undefined): string {
  return microseconds === undefined ? "" : ` ${microseconds} µs`;
}

function ObjectLink({
  resource,
  namespace,
  name,
}: {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}) {
  const known = KNOWN.find(({ group, plural }) => (group === "" ? plural : `${group}/${plural}`) === resource);
  const words = namespace === "" ? name : `${namespace}/${name}`;
  if (known === undefined) return <>{words}</>;
  const { group, version, plural } = known;
  return <a href={objectRoute({ group, version, plural, namespace, name })}>{words}</a>;
}
