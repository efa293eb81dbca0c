/**
 * A kubelet on this machine, from its command line flags.
 *
 *     kubeconfig ──────────────────────────────────────► client ──► runKubelet ◄── runtime ◄── socket
 *     bootstrap kubeconfig ──► certificate ──► kubeconfig ──┘
 *                              └─ renewed before it expires; the client switches to the new one
 */
import { access, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type BuildFacts, type Features, registerBuildInfo, registerFeatureMetrics } from "#api";
import {
  type Clock,
  isAbort,
  type Logger,
  MetricsRegistry,
  type MetricsSettings,
  type Random,
  registerProcessMetrics,
  systemRandom,
  TaskGroup,
} from "#base";
import { Client, clientMetrics, type HttpsConnection, https, traced } from "#client";
import { type KubeconfigConnection, kubeconfigFor, readKubeconfig, writeKubeconfig } from "#pki";
import { type Tracer, Tracing } from "#tracing";
import {
  type CertificateMetrics,
  CertificateRefusedError,
  type ChangingTransport,
  changingTransport,
  clientCertificateMetrics,
  isExpired,
  keepServingCertificate,
  nodeCertificate,
  renewalTime,
  requestCertificate,
  serverCertificateMetrics,
} from "./certificates/index.ts";
import type { KubeletConfig } from "./config/index.ts";
import { criRuntime } from "./cri/index.ts";
import { settleProcess } from "./host/index.ts";
import { type KubeletOptions, runKubelet } from "./kubelet.ts";
import { type Page, serveKubelet } from "./server/index.ts";

export interface HostKubeletOptions {
  readonly config: KubeletConfig;
  readonly kubeconfig: string;
  /** For requesting a certificate while there is no kubeconfig yet. */
  readonly bootstrapKubeconfig?: string;
  /** The directory of the serving certificate. */
  readonly certDir: string;
  readonly runtimeEndpoint: string;
  readonly build: BuildFacts;
  readonly features: Features;
  readonly clock: Clock;
  readonly log: Logger;
  readonly serve?: KubeletOptions["serve"];
  /** Aborts when the machine shuts down. */
  readonly shutdown?: AbortSignal;
  readonly metrics?: MetricsSettings | undefined;
  /** /statusz and /flagz of the kubelet's server. */
  readonly page?: Page | undefined;
}

const RETRY_MS = 5000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Until the signal aborts. */
export async function runHostKubelet(options: HostKubeletOptions, signal: AbortSignal): Promise<void> {
  const { config, kubeconfig, bootstrapKubeconfig, runtimeEndpoint, build, clock, log, serve } = options;
  const version = build.gitVersion;
  const random = systemRandom();
  await using parts = new AsyncDisposableStack();
  await mkdir(config.rootDir, { recursive: true, mode: 0o750 });
  await settleProcess(config);
  if (bootstrapKubeconfig !== undefined && !(await hasCredentials(kubeconfig, clock)))
    await bootstrap(options, bootstrapKubeconfig, signal);
  const connection = await readKubeconfig(kubeconfig);
  const metrics = hostMetrics(options);
  parts.use(registerProcessMetrics(metrics));
  const tracer = await openTracer(config, { clock, log, metrics }, parts);
  const transport = changingTransport(https(connectionOf(connection), { clock }));
  const measured = clientMetrics(metrics, clock).of(transport, connection.server);
  const reporting = traced(measured, tracer, "Report status of");
  const client = new Client({ transport: reporting, clock, userAgent: `kubelet/${version}` });
  parts.defer(() => client.close());
  const runtime = criRuntime({ endpoint: runtimeEndpoint, clock, log, tracer });
  parts.defer(() => runtime.close());
  const tasks = new TaskGroup({ parent: signal });
  const kubelet = {
    config,
    client,
    runtime,
    clock,
    random,
    log,
    metrics,
    features: options.features,
    tracer,
    version,
    shutdown: options.shutdown,
    serve:
      serve ??
      serveKubelet({
        certDir: options.certDir,
        clientCaPem: connection.caPem ?? "",
        clock,
        log,
        metrics,
        page: options.page,
      }),
  };
  const ofClient = clientCertificateMetrics(metrics, clock);
  const ofServer = serverCertificateMetrics(metrics, clock);
  const { client: credentials } = connection;
  if (credentials !== undefined && "certPem" in credentials) ofClient.issued(credentials.certPem);
  tasks.run("kubelet", (running) => runKubelet(kubelet, running));
  if (bootstrapKubeconfig !== undefined)
    tasks.run("certificate renewal", (running) =>
      renew(options, connection, client, transport, { random, metrics: ofClient }, running),
    );
  if (config.serverTlsBootstrap) {
    const names = { dnsNames: [config.nodeName], ipAddresses: config.nodeIps };
    const serving = {
      client,
      nodeName: config.nodeName,
      names,
      certDir: options.certDir,
      clock,
      random,
      log,
      metrics: ofServer,
    };
    tasks.run("certificate of the server", (running) => keepServingCertificate(serving, running));
  }
  await tasks.done();
}

function hostMetrics({ metrics: settings, features, build }: HostKubeletOptions): MetricsRegistry {
  const metrics = new MetricsRegistry(settings);
  metrics.describeItself();
  registerFeatureMetrics(metrics, features);
  registerBuildInfo(metrics, build);
  return metrics;
}

/** Undefined without `tracing` in the configuration. */
async function openTracer(
  { tracing: settings, nodeName }: KubeletConfig,
  own: Pick<HostKubeletOptions, "clock" | "log"> & { readonly metrics: MetricsRegistry },
  parts: AsyncDisposableStack,
): Promise<Tracer | undefined> {
  if (settings === undefined) return undefined;
  const tracing = await Tracing.open({ ...settings, ...own, random: systemRandom() });
  parts.defer(() => tracing.close());
  return tracing.tracer("kubelet", { "host.name": nodeName });
}

/** With the user of the bootstrap kubeconfig, until there is a kubeconfig for the node. */
async function bootstrap(options: HostKubeletOptions, bootstrapKubeconfig: string, signal: AbortSignal): Promise<void> {
  const { config, clock, log, kubeconfig } = options;
  const connection = await readKubeconfig(bootstrapKubeconfig);
  const client = new Client({ transport: https(connectionOf(connection), { clock }), clock, userAgent: "kubelet" });
  try {
    for (;;) {
      try {
        const issued = await requestCertificate(client, nodeCertificate(config.nodeName), signal);
        await writeOwn(kubeconfig, config.nodeName, connection, issued);
        log.info("client certificate issued", { node: config.nodeName });
        return;
      } catch (error) {
        if (isAbort(error, signal) || error instanceof CertificateRefusedError) throw error;
        log.warn("client certificate not issued yet", { error });
      }
      await clock.sleep(RETRY_MS, signal);
    }
  } finally {
    await client.close();
  }
}

async function renew(
  { config, clock, log, kubeconfig }: HostKubeletOptions,
  connection: KubeconfigConnection,
  client: Client,
  transport: ChangingTransport,
  { random, metrics }: { readonly random: Random; readonly metrics: CertificateMetrics },
  signal: AbortSignal,
): Promise<void> {
  const { client: credentials } = connection;
  if (credentials === undefined || !("certPem" in credentials)) return;
  for (let { certPem } = credentials; ; ) {
    const dueMs = renewalTime(certPem, random);
    while (clock.now() < dueMs) await clock.sleep(Math.min(LONGEST_TIMER_MS, dueMs - clock.now()), signal);
    try {
      const issued = await requestCertificate(client, nodeCertificate(config.nodeName), signal);
      await writeOwn(kubeconfig, config.nodeName, connection, issued);
      await transport.replace(https({ ...connectionOf(connection), ...issued }, { clock }));
      log.info("client certificate renewed", { node: config.nodeName });
      certPem = issued.certPem;
      metrics.issued(certPem);
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      metrics.failed();
      log.warn("client certificate could not be renewed yet", { error });
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

async function writeOwn(
  file: string,
  nodeName: string,
  { server, caPem = "" }: KubeconfigConnection,
  client: { readonly certPem: string; readonly keyPem: string },
): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeKubeconfig(file, kubeconfigFor({ name: nodeName, server, caPem, client }));
}

function connectionOf({
  server,
  caPem,
  client,
  tlsServerName,
  insecureSkipTlsVerify,
}: KubeconfigConnection): HttpsConnection {
  return { server, caPem, tlsServerName, insecureSkipTlsVerify, ...client };
}

/** An expired certificate counts as none: the node requests a new one. */
async function hasCredentials(file: string, clock: Clock): Promise<boolean> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (!isThere) return false;
  const { client } = await readKubeconfig(file);
  return client !== undefined && !("certPem" in client && isExpired(client.certPem, clock.now()));
}
