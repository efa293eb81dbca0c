/**
 * The resource metrics API in the API server's process, behind an APIService like any metrics-server.
 *
 *     APIService v1beta1.metrics.k8s.io ──► Service kube-system/k8ts-metrics-server ──► this process
 *     simulated nodes, kubelets ···► it
 *
 * 1. It is loaded in the background; until then its APIService is unavailable.
 * 2. An APIService that exists is left as it is: if it names another Service, another metrics-server is used.
 */
import type { LocalExtension, LocalExtensions } from "#apiserver";
import { type Clock, type Logger, nextTurn, type Random, type TaskGroup } from "#base";
import { Client, type InProcessHandle, inProcess } from "#client";
import type { Fleet } from "#kubelet";
import type { MetricsServer } from "#metrics";
import type { KeyPair } from "#pki";

/** There is no such Service: the name stands for this process. */
const SERVICE = { namespace: "kube-system", name: "k8ts-metrics-server" };
const ACCOUNT = "system:serviceaccount:kube-system:metrics-server";
const ADMIN = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
const KUBELET_TIMEOUT_MS = 10_000;

export interface InProcessMetricsOptions {
  readonly handle: InProcessHandle;
  /** Simulated nodes of this process. */
  readonly fleet: Fleet | undefined;
  /** The authority of the kubelets' certificates. */
  readonly caPem: string;
  /** The client certificate for kubelets, as of now. */
  readonly kubeletIdentity: () => KeyPair;
  /** Time between two measurements. Default: 15 s. */
  readonly resolutionMs?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class InProcessMetrics {
  #server: MetricsServer | undefined;

  get extensions(): LocalExtensions {
    const answer: LocalExtension = (request) => {
      if (this.#server === undefined) return { status: 503, headers: {}, body: Buffer.from("not ready yet\n") };
      return this.#server.answer(request);
    };
    return new Map([[`${SERVICE.namespace}/${SERVICE.name}`, answer]]);
  }

  start(background: TaskGroup, options: InProcessMetricsOptions): void {
    background.run("metrics server", async (signal) => {
      await nextTurn();
      await this.#run(options, signal);
    });
  }

  async #run(options: InProcessMetricsOptions, signal: AbortSignal): Promise<void> {
    const { handle, fleet, caPem, kubeletIdentity, resolutionMs, clock, random, log } = options;
    const { isSimulated, kubeletScraper, MetricsServer, registerMetrics } = await import("#metrics");
    const groups = ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"];
    const admin = new Client({ transport: inProcess(handle, ADMIN), clock, userAgent: "k8ts" });
    const user = { name: ACCOUNT, groups };
    const client = new Client({ transport: inProcess(handle, user), clock, userAgent: "metrics-server" });
    const kubelets = kubeletScraper({ clock, timeoutMs: KUBELET_TIMEOUT_MS, ca: caPem, certificate: kubeletIdentity });
    try {
      // Its permissions come first: without them it cannot watch.
      await registerMetrics(admin, SERVICE, { signal });
      this.#server = new MetricsServer({
        client,
        scrape: async (node, asking) =>
          isSimulated(node) && fleet !== undefined
            ? fleet.resourceMetrics(node.metadata.name ?? "")
            : kubelets.scrape(node, asking),
        resolutionMs,
        clock,
        random,
        log: log.child({ component: "metrics-server" }),
      });
      await this.#server.run(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#server = undefined;
      kubelets.close();
      await client.close();
      await admin.close();
    }
  }
}
