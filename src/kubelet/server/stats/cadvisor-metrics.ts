/**
 * GET /metrics/cadvisor: cAdvisor's metrics of containers and of the machine.
 *
 * 1. Names, types and labels are cAdvisor's. What the kernel does not have is absent, where cAdvisor would show 0.
 */
import type { CgroupPlace } from "../../containers/index.ts";
import { type CgroupReader, cadvisorRows } from "./cadvisor-rows.ts";
import { METRICS } from "./cadvisor-table.ts";
import type { Family, FamilySample } from "./exposition.ts";
import type { NodeStats } from "./node-stats.ts";

export interface MachineFacts {
  readonly cpus: number;
  readonly physicalCores?: number | undefined;
  readonly sockets?: number | undefined;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly cgroupRoot: CgroupPlace;
  readonly bootId: string;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly kernelVersion: string;
  readonly osImage: string;
}

export async function cadvisorMetrics(
  stats: NodeStats,
  facts: MachineFacts,
  reader: CgroupReader,
  devices: ReadonlyMap<string, string>,
): Promise<readonly Family[]> {
  const rows = await cadvisorRows(stats, facts.cgroupRoot, reader);
  const families = METRICS.map(({ name, help, type, isTimed, points }): Family => {
    const samples = rows.flatMap((row) =>
      points(row, devices).flatMap(({ labels, value }): FamilySample[] =>
        value === undefined
          ? []
          : [{ labels: { ...row.labels, ...labels }, value, ...(isTimed && { atMs: row.atMs }) }],
      ),
    );
    return { name, help, type, samples };
  });
  return [...families, ...machineMetrics(facts), scrapeError("container_scrape_error", "containers")];
}

function machineMetrics(facts: MachineFacts): readonly Family[] {
  const labels = { boot_id: facts.bootId, machine_id: facts.machineId, system_uuid: facts.systemUuid };
  const machine = (name: string, help: string, value: number | undefined): Family => ({
    name,
    help,
    type: "gauge",
    samples: value === undefined ? [] : [{ labels, value }],
  });
  return [
    {
      name: "cadvisor_version_info",
      help: "The kernel and the system of this machine.",
      type: "gauge",
      samples: [
        {
          labels: {
            cadvisorRevision: "",
            cadvisorVersion: "",
            dockerVersion: "",
            kernelVersion: facts.kernelVersion,
            osVersion: facts.osImage,
          },
          value: 1,
        },
      ],
    },
    machine("machine_cpu_cores", "Logical CPU cores.", facts.cpus),
    machine("machine_cpu_physical_cores", "Physical CPU cores.", facts.physicalCores),
    machine("machine_cpu_sockets", "CPU sockets.", facts.sockets),
    machine("machine_memory_bytes", "The machine's memory.", facts.memoryBytes),
    machine("machine_swap_bytes", "The machine's swap.", facts.swapBytes),
    scrapeError("machine_scrape_error", "the machine"),
  ];
}

function scrapeError(name: string, what: string): Family {
  const help = `1 if figures of ${what} could not be read, else 0.`;
  return { name, help, type: "gauge", samples: [{ value: 0 }] };
}
