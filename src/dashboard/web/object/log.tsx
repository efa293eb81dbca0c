/** The live log of a container. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { core } from "#api";
import { useCollections } from "../api/collection.ts";
import { wordsOf } from "../api/request.ts";
import { LineReader } from "../api/streams.ts";
import type { KubeObject } from "../api/watched.ts";
import { LogLines } from "../model/log-lines.ts";
import { inSight } from "../model/table.ts";
import { ContainerField } from "./container-field.tsx";

const LINE_HEIGHT = 19;
const MOST_LINES = 20_000;

export function containersOf(pod: KubeObject): readonly string[] {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = (pod as core.Pod).spec ?? {};
  return [...containers, ...initContainers, ...ephemeralContainers].map(({ name = "" }) => name);
}

export function LogTab({ pod }: { readonly pod: KubeObject }) {
  const { streams } = useCollections();
  const names = containersOf(pod);
  const container = useSignal(names[0] ?? "");
  const previous = useSignal(false);
  const follow = useSignal(true);
  const search = useSignal("");
  const words = useSignal("");
  const version = useSignal(0);
  const place = useSignal({ top: 0, height: 400 });
  const box = useRef<HTMLDivElement>(null);
  const { namespace = "", name } = pod.metadata;
  const lines = useMemo(() => new LogLines(MOST_LINES), [container.value, previous.value, name]);

  useEffect(() => {
    const query = new URLSearchParams({ container: container.value, tailLines: "2000" });
    query.set(previous.value ? "previous" : "follow", "true");
    const reader = new LineReader();
    words.value = "";
    let frame = 0;
    const stop = streams.open(`/api/v1/namespaces/${namespace}/pods/${name}/log?${query}`, {
      onText: (text) => {
        lines.add(reader.read(text));
        if (frame === 0)
          frame = requestAnimationFrame(() => {
            frame = 0;
            version.value += 1;
          });
      },
      onEnd: (error) => {
        words.value = error === undefined ? "The log has ended." : wordsOf(error);
      },
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [streams, lines, namespace, name, container.value, previous.value, version, words]);

  void version.value;
  const shown = lines.matching(search.value);
  useEffect(() => {
    const element = box.current;
    if (element !== null && follow.value) element.scrollTop = element.scrollHeight;
  });
  const { from, to } = inSight(place.value.top, place.value.height, LINE_HEIGHT, shown.length, 20);
  return (
    <div class="log">
      <div class="tools">
        <ContainerField chosen={container} names={names} />
        <label>
          <input
            type="checkbox"
            checked={follow.value}
            onChange={({ currentTarget }) => {
              follow.value = currentTarget.checked;
            }}
          />{" "}
          Follow
        </label>
        <label>
          <input
            type="checkbox"
            checked={previous.value}
            onChange={({ currentTarget }) => {
              previous.value = currentTarget.checked;
            }}
          />{" "}
          Previous
        </label>
        <input
          type="search"
          aria-label="Search the log"
          placeholder="Search the log  /"
          value={search.value}
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.preventDefault();
            if (search.value === "") event.currentTarget.blur();
            search.value = "";
          }}
        />
        <span class="dim num">{shown.length} lines</span>
      </div>
      {words.value !== "" && <p class="notice">{words.value}</p>}
      <div
        ref={box}
        class="log-lines"
        role="log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={`Log of ${container.value}`}
        onScroll={({ currentTarget: element }) => {
          place.value = { top: element.scrollTop, height: element.clientHeight };
          const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - LINE_HEIGHT;
          if (follow.peek() !== isAtEnd) follow.value = isAtEnd;
        }}
      >
        <div style={{ height: `${shown.length * LINE_HEIGHT}px` }}>
          <pre style={{ transform: `translateY(${from * LINE_HEIGHT}px)` }}>{shown.slice(from, to).join("\n")}</pre>
        </div>
      </div>
    </div>
  );
}
