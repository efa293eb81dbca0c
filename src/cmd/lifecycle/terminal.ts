/** The output of a starting and running cluster; without a terminal, without colours and live status. */
import type { WriteStream } from "node:tty";
import { K8TS_VERSION, KUBERNETES_VERSION } from "#apiserver";
import type { Clock, Timer } from "#base";
import type { Cluster, Step } from "#cluster";

export interface Ready {
  readonly cluster: Pick<Cluster, "url" | "kubeconfig" | "mergedInto"> & { readonly context: string };
  readonly notes: readonly string[];
  /** A link that works once. */
  readonly dashboard?: string;
  /** Of the nodes, and what may run on them. */
  readonly nodes: NodesSummary;
  readonly readyMs: number;
  readonly residentMb: number;
}

export interface Reporter {
  begin(): void;
  step(step: Step): void;
  /** `revision` reads the store's current revision, for the live status. Undefined: this machine has no store. */
  ready(ready: Ready, revision: (() => Promise<number>) | undefined): void;
  failed(sentence: string): void;
  stopping(): void;
  stopped(): void;
}

export interface NodesSummary {
  readonly kind: "real" | "simulated" | "none" | "joined";
  /** Simulated ones, or at least so many real ones. */
  readonly count: number;
  /** Whether images are pulled. */
  readonly pulls: boolean;
}

/** In every real node from the start. */
const PRELOADED = "localhost/busybox:1";

/** What there is, and what to try: a Deployment that runs without a registry. */
function nodesLines({ kind, count, pulls }: NodesSummary): string[] {
  switch (kind) {
    case "none":
      return ["  nodes        none: Pods stay Pending (--nodes N)", "  try          kubectl get namespaces"];
    case "simulated":
      return [
        `  nodes        ${count} simulated: Pods are reported as running, no containers run`,
        "  try          kubectl create deployment web --image=any/image && kubectl get pods",
      ];
    case "joined":
      return ["  node         this machine, on containerd: `kubectl get nodes` on the control plane shows it"];
    case "real":
      return [
        `  nodes        real, on containerd; ${PRELOADED} is there, ${pulls ? "others are pulled" : "others have to be imported (k8ts image import)"}`,
        `  try          kubectl create deployment web --image=${PRELOADED} -- sleep infinity && kubectl get pods`,
      ];
  }
}

export function terminalReporter(out: WriteStream, clock: Clock): Reporter {
  const line = (text: string) => void out.write(`${text}\n`);
  let live: LiveLine | undefined;
  return {
    begin: () => line(banner()),
    step: (step) => line(stepLine(step)),
    ready(ready, revision) {
      for (const text of readyLines(ready)) line(text);
      if (out.isTTY && revision !== undefined) live = new LiveLine(out, clock, revision);
      else line("Ctrl-C stops it.");
    },
    failed: (sentence) => void process.stderr.write(`k8ts: ${sentence}\n`),
    stopping() {
      live?.end();
      line("Stopping …");
    },
    stopped: () => line("Stopped. The next `k8ts up` resumes this cluster."),
  };
}

export function banner(): string {
  const { major, minor, patch } = KUBERNETES_VERSION;
  return `k8ts ${K8TS_VERSION} · Kubernetes v${major}.${minor}.${patch}`;
}

export function stepLine({ name, detail, ms }: Step): string {
  return `  ✓ ${name.padEnd(16)}${`${Math.round(ms)} ms`.padStart(7)}   ${detail}`;
}

export function readyLines({ cluster, notes, dashboard, nodes, readyMs, residentMb: memory }: Ready): string[] {
  return [
    `Ready in ${Math.round(readyMs)} ms, ${memory} MB resident.`,
    ...notes.map((note) => `Note: ${note}`),
    "",
    `  API server   ${cluster.url}`,
    cluster.mergedInto === undefined
      ? `  kubeconfig   ${cluster.kubeconfig}`
      : `  kubeconfig   ${cluster.kubeconfig}, and as context ${cluster.context} in ${cluster.mergedInto}`,
    ...(dashboard === undefined ? [] : [`  dashboard    ${dashboard} (works once; then \`k8ts dashboard\`)`]),
    ...nodesLines(nodes),
    "",
  ];
}

/** One line that is rewritten every second while the cluster runs. */
class LiveLine {
  readonly #out: WriteStream;
  readonly #clock: Clock;
  readonly #since: number;
  readonly #revision: () => Promise<number>;
  #timer: Timer | undefined;
  #ended = false;

  constructor(out: WriteStream, clock: Clock, revision: () => Promise<number>) {
    this.#out = out;
    this.#clock = clock;
    this.#since = clock.monotonic();
    this.#revision = revision;
    this.#draw("…");
  }

  end(): void {
    this.#ended = true;
    this.#timer?.cancel();
    this.#out.write("\r\x1b[K");
  }

  async #tick(): Promise<void> {
    const revision = await this.#revision().then(String, () => "unknown: the store does not respond");
    if (!this.#ended) this.#draw(revision);
  }

  #draw(revision: string): void {
    const up = duration(this.#clock.monotonic() - this.#since);
    this.#out.write(`\r\x1b[K● up ${up} · revision ${revision} · ${residentMb()} MB · Ctrl-C stops`);
    this.#timer = this.#clock.timer(1_000, () => void this.#tick());
  }
}

export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

export function residentMb(): number {
  return Math.round(process.memoryUsage.rss() / 1_000_000);
}
