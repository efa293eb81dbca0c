/** Flows, live: the diagram grows while things happen; of everything, or of one object; with replay. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Diagram as Drawing, Line, ObjectName } from "#flows";
import { useCollections } from "../api/collection.ts";
import { FlowFeed } from "../api/flow-feed.ts";
import { beginnings, flowDiagram } from "../model/flow-records.ts";
import { appeared, timeline } from "../model/timeline.ts";
import { usePage } from "../page.ts";
import { Diagram } from "../parts/diagram.tsx";
import { Head } from "../parts/head.tsx";
import { RecordPanel } from "../parts/record.tsx";
import { Replay } from "../parts/replay.tsx";
import type { ObjectPlace } from "../route.ts";
import { sleep, ticks } from "../time.ts";

const EVERYTHING = "";

export function FlowsView() {
  const page = usePage();
  const feed = useFeed();
  const { value: route } = page.route;
  const wanted = "query" in route ? (route.query.get("of") ?? EVERYTHING) : EVERYTHING;
  const found = useComputed(() => {
    void feed.version.value;
    const words = page.search.value.toLowerCase();
    return beginnings(feed.records.all).filter((each) =>
      `${each.resource} ${each.namespace} ${each.name} ${each.actor}`.toLowerCase().includes(words),
    );
  });
  const options = found.value.map((each) => ({
    key: keyOf(each),
    words: `${each.resource.split("/").at(-1)}/${each.name}`,
    hint: `${each.actor} · ${each.namespace}`,
    at: each.at,
  }));
  return (
    <section class="fill">
      <Head title="Flows" search="Search objects" namespaced={false} />
      <div class="flows">
        <nav class="beginnings" aria-label="Where flows began">
          <a href="#/flows" aria-current={wanted === EVERYTHING ? "true" : undefined}>
            Everything
          </a>
          {options.map(({ key, words, hint }) => (
            <a
              key={key}
              href={`#/flows?of=${encodeURIComponent(key)}`}
              aria-current={wanted === key ? "true" : undefined}
            >
              {words}
              <span class="dim">{hint}</span>
            </a>
          ))}
        </nav>
        <select
          class="beginnings-narrow"
          aria-label="Where flows began"
          value={wanted}
          onChange={({ currentTarget: { value } }) => {
            location.hash = value === "" ? "#/flows" : `#/flows?of=${encodeURIComponent(value)}`;
          }}
        >
          <option value="">Everything</option>
          {options.map(({ key, words }) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </select>
        <FlowBoard key={wanted} feed={feed} object={objectOf(wanted)} />
      </div>
    </section>
  );
}

/** The flow of one object, on its own page. */
export function FlowPanel({ object: { group, plural, namespace, name } }: { readonly object: ObjectPlace }) {
  const feed = useFeed();
  const resource = group === "" ? plural : `${group}/${plural}`;
  const object = useMemo(() => ({ resource, namespace, name }), [resource, namespace, name]);
  return <FlowBoard feed={feed} object={object} />;
}

function useFeed(): FlowFeed {
  const { streams } = useCollections();
  const feed = useMemo(() => new FlowFeed(streams), [streams]);
  useEffect(() => {
    const ending = new AbortController();
    void feed.run(ending.signal);
    return () => ending.abort();
  }, [feed]);
  return feed;
}

function keyOf({ resource, namespace, name }: ObjectName): string {
  return [resource, namespace, name].join(" ");
}

function objectOf(key: string): ObjectName | undefined {
  const [resource, namespace, name] = key.split(" ");
  return resource === undefined || namespace === undefined || name === undefined
    ? undefined
    : { resource, namespace, name };
}

const NOTHING: Drawing = { participants: [], lines: [] };

function FlowBoard({ feed, object }: { readonly feed: FlowFeed; readonly object: ObjectName | undefined }) {
  const drawing = useSignal<Drawing>(NOTHING);
  const participants = useSignal<readonly string[]>([]);
  const only = useSignal<readonly string[]>([]);
  const fold = useSignal(true);
  const background = useSignal(false);
  const chosen = useSignal<Line | undefined>(undefined);
  /** In the replay's time; undefined: live, at the end. */
  const position = useSignal<number | undefined>(undefined);

  const version = feed.version.value;
  const pace = useMemo(() => ({ restUntil: 0, waiting: false }), []);
  useEffect(() => {
    // Drawing anew takes no more than a fifth of the time, however much happens.
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
          <label title="Leases and Events, which go on all the time">
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
