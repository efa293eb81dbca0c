/** Series over time, with a level to compare with, and the figures in words for those who do not see it. */
import { areaOf, pathOf, type Scale, scaleOf, yOf } from "../model/chart.ts";
import type { Point } from "../model/history.ts";

const BOX = { width: 600, height: 120 };

export interface ChartProps {
  readonly title: string;
  readonly points: readonly Point[];
  readonly words: (value: number) => string;
  /** Drawn as a dashed line. */
  readonly level?: { readonly value: number; readonly title: string } | undefined;
  /** Values stay until the next one: numbers of replicas. */
  readonly steps?: boolean;
  readonly empty?: string;
}

export function Chart({ title, points, words, level, steps = false, empty = "Nothing measured yet." }: ChartProps) {
  const last = points.at(-1);
  const scale = scaleOf([points], level?.value ?? 0);
  const figures = [
    `${title}: ${last === undefined ? "unknown" : words(last.value)}`,
    ...(level === undefined ? [] : [`${level.title} ${words(level.value)}`]),
  ].join(", ");
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <b class="num">{last === undefined ? "–" : words(last.value)}</b>
        {level !== undefined && (
          <span class="chart-level">
            <i aria-hidden="true" /> {level.title} {words(level.value)}
          </span>
        )}
      </figcaption>
      {last === undefined ? (
        <p class="dim">{empty}</p>
      ) : (
        <div class="chart-box">
          <span class="chart-max num" aria-hidden="true">
            {words(scale.max)}
          </span>
          <svg
            viewBox={`0 -2 ${BOX.width} ${BOX.height + 4}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={figures}
          >
            <path class="grid" d={`M0 0H${BOX.width}M0 ${BOX.height / 2}H${BOX.width}M0 ${BOX.height}H${BOX.width}`} />
            {!steps && <path class="area" d={areaOf(points, scale, BOX)} />}
            {level !== undefined && <path class="level" d={`M0 ${yOf(level.value, scale, BOX)}H${BOX.width}`} />}
            <path class="line" d={pathOf(points, scale, BOX, steps)} />
          </svg>
          <span class="chart-since num dim">{sinceText(scale)}</span>
        </div>
      )}
    </figure>
  );
}

function sinceText({ fromMs, toMs }: Scale): string {
  const seconds = Math.round((toMs - fromMs) / 1000);
  return seconds < 120 ? `the last ${seconds} s` : `the last ${Math.round(seconds / 60)} min`;
}
