/** How far usage may be from its target without an effect. */
import { type autoscaling, parseQuantity, type Quantity } from "#api";
import type { Tolerances } from "./replicas.ts";
import type { AutoscalerSettings } from "./settings.ts";

export function tolerancesOf(
  { spec: { behavior } }: autoscaling.HorizontalPodAutoscaler,
  { tolerance, configurableTolerance }: Pick<AutoscalerSettings, "tolerance" | "configurableTolerance">,
): Tolerances {
  const own = (text: string | undefined) =>
    configurableTolerance && text !== undefined ? numberOf(parseQuantity(text)) : tolerance;
  return { up: own(behavior?.scaleUp?.tolerance), down: own(behavior?.scaleDown?.tolerance) };
}

function numberOf({ unscaled, scale }: Quantity): number {
  return scale < 0 ? Number(unscaled) / 10 ** -scale : Number(unscaled) * 10 ** scale;
}
