/** What an object uses: charts of CPU and memory, beside what it requests or has. */
import { useUsage } from "../api/usage.ts";
import { bytes, cores } from "../model/quantity.ts";
import { Chart } from "./chart.tsx";

export interface Compared {
  readonly title: string;
  readonly cpu: number;
  readonly memory: number;
}

/** `keys`: of nodes or Pods, see `roundOf`; their usage is summed. */
export function UsageCharts({
  namespace,
  keys,
  compared,
}: {
  readonly namespace: string;
  readonly keys: readonly string[];
  readonly compared?: Compared | undefined;
}) {
  const usage = useUsage(namespace);
  const [cpu, memory] = [usage.cpu.sum(keys), usage.memory.sum(keys)];
  if (cpu.length === 0) return null;
  const level = (value: number) =>
    compared === undefined || value === 0 ? undefined : { value, title: compared.title };
  return (
    <div class="charts">
      <Chart title="CPU" points={cpu} words={(value) => `${cores(value)} cores`} level={level(compared?.cpu ?? 0)} />
      <Chart title="Memory" points={memory} words={bytes} level={level(compared?.memory ?? 0)} />
    </div>
  );
}
