/** A growing flow: a filter of participants, replay controls, the diagram, and the record of the selected line. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Diagram as Drawing, Line, ObjectName } from "#flows";
import type { FlowFeed } from "../api/flow-feed.ts";
import { flowDiagram } from "../model/flow-records.ts";
import { appeared, timeline } from "../model/timeline.ts";
import { sleep, ticks } from "../time.ts";
import { Diagram } from "./diagram.tsx";
import { RecordPanel } from "./record.tsx";
import { Replay } from "./replay.tsx";

const NOTHING: Drawing = { participants: [], lines: [] };

export function FlowBoard({ feed, object }: { readonly feed: FlowFeed; readonly object: ObjectName | undefined }) {
  const drawing = useSignal<Drawing>(NOTHING);
  const participants = useSignal<readonly string[]>([]);
  const only = useSignal<readonly string[]>([]);
  const fold = useSignal(true);
  const background = useSignal(false);
  const chosen = useSignal<Line | undefined>(undefined);
  /** Replay time; undefined: live. */
  const position = useSignal<number | undefined>(undefined);

  const version = feed.version.value;
  const pace = useMemo(() => ({ restUntil: 0, waiting: false }), []);
  useEffect(() => {
    // Redrawing takes at most a fifth of the time, at any rate of records.
    if (pace.waiting) return;
    pace.waiting = true;
    void sleep(Math.max(0, pace.restUntil - ticks())).then(() => {
      pace.waiting = false;
      const started = ticks();
      const question = { object, only: [], fold: fold.peek(), background: background.peek() };
      const whole = flowDiagram(feed.records.all, question);
      participants.value = whole.participants;
      drawing.value =
        only.peek().length === 0 ? whole : flowDiagram(feed.records.all, { ...question, only: only.peek() });
      pace.restUntil = ticks() + 5 * (ticks() - started);
    });
  }, [
    version,
    only.value,
    fold.value,
    background.value,
    object,
    feed,
    drawing,
    participants,
    pace,
    fold,
    background,
    only,
  ]);

  const { lines } = drawing.value;
  const line = useMemo(() => timeline(lines), [lines]);
  const count = position.value === undefined ? lines.length : appeared(line, position.value);
  const toggle = (name: string) => {
    only.value = only.value.includes(name) ? only.value.filter((each) => each !== name) : [...only.value, name];
  };
  return (
    <div class="board">
      <fieldset class="chips" aria-label="Only these components">
        {participants.value.map((name) => (
          <button
            key={name}
            type="button"
            class="chip"
            aria-pressed={only.value.includes(name)}
            onClick={() => toggle(name)}
          >
            {name}
          </button>
        ))}
        {only.value.length > 0 && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              only.value = [];
            }}
          >
            All
          </button>
        )}
      </fieldset>
      <Replay timeline={line} lines={lines} position={position}>
        <label>
          <input
            type="checkbox"
            checked={fold.value}
            onChange={({ currentTarget }) => {
              fold.value = currentTarget.checked;
            }}
          />{" "}
          Fold
        </label>
        {object === undefined && (
          <label title="Leases and Events, which change all the time">
            <input
              type="checkbox"
              checked={background.value}
              onChange={({ currentTarget }) => {
                background.value = currentTarget.checked;
              }}
            />{" "}
            Background
          </label>
        )}
      </Replay>
      {feed.words.value !== "" && <p class="notice">{feed.words.value}</p>}
      <div class="board-body">
        <Diagram
          drawing={drawing.value}
          count={count}
          chosen={chosen.value}
          follows={chosen.value === undefined}
          onChoose={(each) => {
            chosen.value = each;
          }}
        />
        {chosen.value !== undefined && (
          <RecordPanel
            line={chosen.value}
            onClose={() => {
              chosen.value = undefined;
            }}
          />
        )}
      </div>
    </div>
  );
}
