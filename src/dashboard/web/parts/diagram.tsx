/**
 * A sequence diagram of any length: participants in columns, a row for each line; only visible rows exist.
 *
 *     ──►  a call, and thinner its answer        --►  a watch event        ══►  a persisted change
 */
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Diagram as Drawing, Line } from "#flows";
import { columnOf, type Geometry, geometry, isList, spanOf } from "../model/geometry.ts";
import { inSight, moved, scrollFor } from "../model/table.ts";

const ROW = 36;

interface DiagramProps {
  readonly drawing: Drawing;
  /** How many of its lines are shown. */
  readonly count: number;
  readonly chosen: Line | undefined;
  readonly onChoose: (line: Line) => void;
  /** Keeps the newest line visible, if it was. */
  readonly follows: boolean;
}

export function Diagram({ drawing: { participants, lines }, count, chosen, onChoose, follows }: DiagramProps) {
  const box = useRef<HTMLDivElement>(null);
  /** A user who has scrolled back is not moved. */
  const atEnd = useRef(true);
  const place = useSignal({ top: 0, left: 0, height: 500, width: 800 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    let frame = 0;
    const measure = () => {
      frame = 0;
      atEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - 2 * ROW;
      place.value = {
        top: element.scrollTop,
        left: element.scrollLeft,
        height: element.clientHeight,
        width: element.clientWidth,
      };
    };
    const soon = () => {
      if (frame === 0) frame = requestAnimationFrame(measure);
    };
    const resized = new ResizeObserver(soon);
    resized.observe(element);
    element.addEventListener("scroll", soon, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", soon);
      cancelAnimationFrame(frame);
    };
  }, [place]);
  useLayoutEffect(() => {
    if (follows && atEnd.current && box.current !== null) box.current.scrollTop = count * ROW;
  }, [follows, count]);

  const { top, left, height, width } = place.value;
  const isNarrow = isList(participants.length, width);
  // A list has no columns: each line names its participants.
  const shape = geometry(isNarrow ? 0 : participants.length, width);
  const { from, to } = inSight(top, height, ROW, count, 6);
  const begin = lines[0]?.at ?? 0;
  const at = chosen === undefined ? -1 : lines.indexOf(chosen);
  const onKeyDown = (event: KeyboardEvent) => {
    const element = box.current;
    const next = moved(at, event.key, count, 10);
    const line = next === undefined ? undefined : lines[next];
    if (element === null || next === undefined || line === undefined) return;
    event.preventDefault();
    onChoose(line);
    const scroll = scrollFor(next, element.scrollTop, element.clientHeight - 2 * ROW, ROW);
    if (scroll !== undefined) element.scrollTop = scroll;
  };
  return (
    <div
      ref={box}
      class="diagram"
      role="listbox"
      aria-label="What happened, in order"
      tabIndex={0}
      aria-activedescendant={at >= from && at < to ? `line-${at}` : undefined}
      onKeyDown={onKeyDown}
    >
      {!isNarrow && <Heads participants={participants} shape={shape} />}
      <div class="diagram-body" style={{ height: `${count * ROW + ROW}px`, width: `${shape.width}px` }}>
        {(isNarrow ? [] : participants).map((name, index) => (
          <i key={name} class="lifeline" style={{ left: `${columnOf(shape, index)}px` }} />
        ))}
        {lines.slice(from, Math.min(to, count)).map((line, index) => (
          <DiagramRow
            key={from + index}
            id={`line-${from + index}`}
            line={line}
            shape={shape}
            participants={participants}
            top={(from + index) * ROW}
            time={timeOf(line.at - begin, (lines[from + index - 1]?.at ?? Number.NEGATIVE_INFINITY) - begin)}
            isNarrow={isNarrow}
            outside={isNarrow ? "" : outOfSight(line, participants, shape, left, width)}
            left={left}
            width={width}
            isChosen={from + index === at}
            isNewest={from + index === count - 1}
            onChoose={onChoose}
          />
        ))}
      </div>
      {lines.length === 0 && <p class="empty">There are no records yet. New ones appear here.</p>}
    </div>
  );
}

function Heads({ participants, shape }: { readonly participants: readonly string[]; readonly shape: Geometry }) {
  return (
    <div class="diagram-heads" style={{ width: `${shape.width}px` }}>
      {participants.map((name, index) => (
        <span
          key={name}
          title={name}
          style={{ left: `${columnOf(shape, index)}px`, maxWidth: `${shape.column - 8}px` }}
        >
          {name.replace("/", "/\u200b")}
        </span>
      ))}
    </div>
  );
}

/** The time of a line, if it differs from the line before. */
function timeOf(ms: number, before: number): string {
  const written = (value: number) => (value < 10_000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`);
  return Number.isFinite(before) && written(ms) === written(before) ? "" : written(ms);
}

function outOfSight(line: Line, participants: readonly string[], shape: Geometry, left: number, width: number): string {
  const isOut = (name: string) => {
    const at = columnOf(shape, participants.indexOf(name));
    return at < left || at > left + width;
  };
  return [...new Set([line.from, line.to])].filter(isOut).join(", ");
}

/** The arrows in text, as in READMEs. */
const SIGNS: Readonly<Record<string, string>> = { call: "──►", answer: "──►", watch: "--►", persisted: "══►" };

interface RowProps {
  readonly id: string;
  readonly line: Line;
  readonly shape: Geometry;
  readonly participants: readonly string[];
  readonly top: number;
  readonly time: string;
  /** Without columns. */
  readonly isNarrow: boolean;
  /** Participants outside of the visible part. */
  readonly outside: string;
  /** The visible part. */
  readonly left: number;
  readonly width: number;
  readonly isChosen: boolean;
  readonly isNewest: boolean;
  readonly onChoose: (line: Line) => void;
}

function DiagramRow(props: RowProps) {
  const { id, line, shape, participants, top, time, outside, isChosen, isNewest, isNarrow, onChoose } = props;
  const { left, width, isLeftward, label } = spanOf(
    shape,
    participants.indexOf(line.from),
    participants.indexOf(line.to),
    outside === "" ? undefined : { left: props.left, width: props.width },
  );
  const words = line.times > 1 ? `${line.text} ×${line.times}` : line.text;
  return (
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      aria-label={`${line.from} to ${line.to}: ${words}`}
      class={`line ${isNarrow ? "listed" : ""} ${line.arrow} ${isChosen ? "chosen" : ""} ${isNewest ? "newest" : ""}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onChoose(line)}
    >
      <span class="when num">{time}</span>
      {isNarrow && (
        <span class="between">
          {line.from === line.to ? line.from : `${line.from} ${SIGNS[line.arrow] ?? "→"} ${line.to}`}
        </span>
      )}
      {!isNarrow && line.arrow !== "note" && (
        <i class={isLeftward ? "arrow leftward" : "arrow"} style={{ left: `${left}px`, width: `${width}px` }} />
      )}
      <span class="label" style={isNarrow ? {} : label} title={words}>
        {outside !== "" && <span class="dim">{outside} · </span>}
        {words}
      </span>
    </div>
  );
}
