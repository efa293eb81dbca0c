/** Metrics as `kubectl get` shows them: `cpu: 45%/80%, 12/30 (avg) + 1 more...`. */
import { canonicalQuantity } from "../machinery/scalars/quantity.ts";
import type { MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from "../types/autoscaling-v2.ts";

const unknown = "<unknown>";
const shown = 2;

export function targetsText(metrics: readonly MetricSpec[], current: readonly MetricStatus[]): string {
  if (metrics.length === 0) return "<none>";
  const texts = metrics.slice(0, shown).map((metric, i) => targetText(metric, current[i]));
  const more = metrics.length > shown ? ` + ${metrics.length - shown} more...` : "";
  return `${texts.join(", ")}${more}`;
}

function targetText(metric: MetricSpec, status: MetricStatus | undefined): string {
  switch (metric.type) {
    case "External":
      return valueText(metric.external?.target, status?.external?.current);
    case "Object":
      return valueText(metric.object?.target, status?.object?.current);
    case "Pods":
      return `${amount(status?.pods?.current.averageValue)}/${amount(metric.pods?.target.averageValue)}`;
    case "Resource":
      return `${metric.resource?.name}: ${shareText(metric.resource?.target, status?.resource?.current)}`;
    case "ContainerResource":
      return `${metric.containerResource?.name}: ${shareText(metric.containerResource?.target, status?.containerResource?.current)}`;
    default:
      return "<unknown type>";
  }
}

function valueText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined)
    return `${amount(current?.averageValue)}/${amount(target.averageValue)} (avg)`;
  return `${amount(current?.value)}/${amount(target?.value)}`;
}

function shareText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${amount(current?.averageValue)}/${amount(target.averageValue)}`;
  const wanted = target?.averageUtilization === undefined ? "<auto>" : `${target.averageUtilization}%`;
  return `${current?.averageUtilization === undefined ? unknown : `${current.averageUtilization}%`}/${wanted}`;
}

function amount(quantity: string | undefined): string {
  return quantity === undefined ? unknown : canonicalQuantity(quantity);
}
