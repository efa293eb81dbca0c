/** The figures of all controllers of a process: registered once, so that counters continue after a restart of them. */
import type { MetricsRegistry } from "#base";
import type { ControllersOptions } from "#controllers";

export type ControllerFigures = () => Promise<ControllersOptions["metrics"]>;

export function figuresOfControllers(metrics: MetricsRegistry): ControllerFigures {
  let figures: ReturnType<ControllerFigures> | undefined;
  return () => {
    figures ??= import("#controllers").then(({ controllerMetrics }) => controllerMetrics(metrics));
    return figures;
  };
}
