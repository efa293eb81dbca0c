/** A small chart of the last minutes beside its last figure. */
import { areaOf, pathOf, scaleOf } from "../model/chart.ts";
import type { Point } from "../model/history.ts";

const BOX = { width: 64, height: 18 };

/** `of`: what would fill it; without it the highest point does. */
export function Sparkline({
  points,
  title,
  words,
  of = 0,
}: {
  readonly points: readonly Point[];
  readonly title: string;
  /** Of the last figure. */
  readonly words: (value: number) => string;
  readonly of?: number | undefined;
}) {
  const last = points.at(-1);
  if (last === undefined)
    return (
      <span class="dim" title={`${title}: not measured`}>
        –
      </span>
    );
  const scale = scaleOf([points], of);
  const highest = points.reduce((max, { value }) => Math.max(max, value), 0);
  const label = `${title}: ${words(last.value)}, at most ${words(highest)} in the last minutes`;
  return (
    <span class="spark" title={label}>
      <svg viewBox={`0 -1 ${BOX.width} ${BOX.height + 2}`} role="img" aria-label={label} preserveAspectRatio="none">
        <path class="area" d={areaOf(points, scale, BOX)} />
        <path class="line" d={pathOf(points, scale, BOX)} />
      </svg>
      <span class="spark-words">{words(last.value)}</span>
    </span>
  );
}
