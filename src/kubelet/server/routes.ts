/** The routes by the first part of the path. Streams are in streams/. */

import { uptime } from "node:os";
import { isAbort, metricsContentType, table } from "#base";
import { cgroupLayout } from "../containers/index.ts";
import { checkpointContainer } from "./checkpoint.ts";
import { configz } from "./configz.ts";
import { type Answer, type Ask, type Handler, isTrue, json, Refusal, text } from "./exchange.ts";
import { health } from "./health.ts";
import { containerLog } from "./logs/container-logs.ts";
import { queryLogs } from "./logs/log-query.ts";
import { nodeLogs } from "./logs/node-logs.ts";
import { healthMetrics } from "./own-metrics.ts";
import { podList, runningPods } from "./pod-lists.ts";
import { runCommand } from "./run-command.ts";
import type { Served } from "./served.ts";
import { cadvisorMetrics, type MachineFacts } from "./stats/cadvisor-metrics.ts";
import { cgroupReader } from "./stats/cadvisor-rows.ts";
import { deviceNames } from "./stats/disks.ts";
import { exposition } from "./stats/exposition.ts";
import { machineFacts } from "./stats/machine-facts.ts";
import { NodeMeasurements } from "./stats/node-stats.ts";
import { failedResourceMetrics, resourceMetrics } from "./stats/resource-metrics.ts";
import { summary } from "./stats/summary.ts";

const DISABLED: Handler = () => text(405, "Debug endpoints are disabled.\n");
const NO_QUESTION = { rest: [], query: new URLSearchParams() };

export type Routes = Readonly<Record<string, Handler>>;

export function routes(served: Served): Routes {
  const { kubelet, clock, log, metrics } = served;
  const { config } = kubelet;
  const measurements = new NodeMeasurements(kubelet, clock);
  const observe = healthMetrics(metrics);
  let facts: Promise<MachineFacts> | undefined;

  const figures = table<Handler>({
    "": () => metricsText(metrics.text()),
    resource: async ({ signal }) => {
      try {
        return metricsText(exposition(resourceMetrics(await measurements.measure(signal))));
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        log.error("the node could not be measured", { error });
        return metricsText(exposition(failedResourceMetrics()));
      }
    },
    cadvisor: async ({ signal }) => {
      const stats = await measurements.measure(signal);
      facts ??= machineFacts(config.rootDir, cgroupLayout(config));
      const reader = cgroupReader(await measurements.hierarchies());
      return metricsText(exposition(await cadvisorMetrics(stats, await facts, reader, await deviceNames())));
    },
    probes: () => metricsText(familiesOf(metrics.text(), "prober_")),
    slis: () => {
      // As upstream, which checks itself whenever somebody looks.
      health(served, NO_QUESTION, observe);
      return metricsText(familiesOf(metrics.text(), "kubernetes_healthcheck"));
    },
  });
  const page: Handler = ({ path, headers: { accept } }) => {
    const found = served.page?.(path, accept);
    if (found === undefined) throw notFound();
    return found;
  };

  const debugging = (handler: Handler): Handler => (config.debuggingHandlers ? handler : DISABLED);

  return table<Handler>({
    containerLogs: debugging(
      reading(async (ask) => ({
        status: 200,
        headers: { "content-type": "text/plain" },
        body: await containerLog(served, ask),
      })),
    ),
    run: debugging((ask) => runCommand(served, ask)),
    pods: reading(() => json(podList(kubelet.pods()))),
    runningpods: reading(async ({ signal }) => json(await runningPods(served, signal))),
    healthz: reading((ask) => health(served, ask, observe)),
    statusz: reading(page),
    flagz: reading(page),
    configz: reading(() => json(configz(config))),
    // Not of upstream: `k8ts why` asks how far pulls are.
    pulls: reading(async ({ signal }) => json({ pulls: (await kubelet.pulls?.(signal)) ?? [] })),
    stats: reading(async ({ rest, query, signal }) => {
      if (rest[0] !== "summary") throw notFound();
      const bootMs = clock.now() - uptime() * 1000;
      const stats = await measurements.measure(signal);
      return json(summary(config.nodeName, stats, bootMs, isTrue(query.get("only_cpu_and_memory"))));
    }),
    metrics: reading((ask) => {
      const handler = figures[ask.rest[0] ?? ""];
      if (handler === undefined) throw notFound();
      return handler(ask);
    }),
    checkpoint: debugging((ask) => checkpointContainer(served, ask)),
    logs:
      config.systemLogs && config.debuggingHandlers
        ? reading((ask) => {
            if (!config.systemLogQuery || !ask.query.has("query")) return nodeLogs(config.systemLogRoot, ask);
            return queryLogs(config.systemLogRoot, ask, clock);
          })
        : () => text(405, "logs endpoint is disabled.\n"),
  });
}

function reading(handler: Handler): Handler {
  return (ask: Ask) => {
    if (ask.method !== "GET" && ask.method !== "HEAD") throw new Refusal(405, "405: Method Not Allowed");
    return handler(ask);
  };
}

function notFound(): Refusal {
  return new Refusal(404, "404 page not found\n");
}

function metricsText(body: string): Answer {
  return { status: 200, headers: { "content-type": metricsContentType }, body };
}

/** Only metrics with these prefixes. */
function familiesOf(all: string, prefix: string): string {
  const lines = all.split("\n").filter((line) => line.replace(/^# (HELP|TYPE) /, "").startsWith(prefix));
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
