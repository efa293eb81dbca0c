/** Replay controls: play, pause, a time slider, speed, and back to live. */
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Line } from "#flows";
import { appeared, type Timeline } from "../model/timeline.ts";

interface ReplayProps {
  readonly timeline: Timeline;
  readonly lines: readonly Line[];
  /** Undefined: live. */
  readonly position: Signal<number | undefined>;
  readonly children: ComponentChildren;
}

export function Replay({ timeline, lines, position, children }: ReplayProps) {
  const playing = useSignal(false);
  const speed = useSignal(1);
  const { total } = timeline;

  useEffect(() => {
    if (!playing.value) return undefined;
    let last: number | undefined;
    let frame = requestAnimationFrame(function step(now: number) {
      const next = (position.peek() ?? 0) + (last === undefined ? 0 : (now - last) * speed.peek());
      last = now;
      if (next >= total) {
        position.value = undefined;
        playing.value = false;
        return;
      }
      position.value = next;
      frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing.value, total, playing, position, speed]);

  const play = () => {
    if (!playing.value && position.value === undefined) position.value = 0;
    playing.value = !playing.value;
  };
  const at = position.value ?? total;
  const count = position.value === undefined ? lines.length : appeared(timeline, at);
  const words = `${count} of ${lines.length} steps`;
  return (
    <div class="replay">
      <button
        type="button"
        onClick={play}
        disabled={lines.length === 0}
        aria-label={playing.value ? "Pause" : "Replay"}
      >
        {playing.value ? "❚❚" : "▶"}
      </button>
      <input
        type="range"
        aria-label="Time"
        aria-valuetext={words}
        min={0}
        max={Math.max(1, Math.ceil(total))}
        step={1}
        value={at}
        onInput={({ currentTarget: { valueAsNumber } }) => {
          playing.value = false;
          position.value = valueAsNumber >= total ? undefined : valueAsNumber;
        }}
      />
      <span class="num dim steps">{words}</span>
      <select
        aria-label="Speed"
        value={String(speed.value)}
        onChange={({ currentTarget }) => {
          speed.value = Number(currentTarget.value);
        }}
      >
        {["0.25", "0.5", "1", "2", "5"].map((each) => (
          <option key={each} value={each}>
            {each}×
          </option>
        ))}
      </select>
      <button
        type="button"
        class={position.value === undefined ? "live on" : "live"}
        aria-pressed={position.value === undefined}
        onClick={() => {
          playing.value = false;
          position.value = undefined;
        }}
      >
        Live
      </button>
      {children}
    </div>
  );
}
