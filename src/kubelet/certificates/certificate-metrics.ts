/** Metrics of the node's certificates: how long they are valid, and renewals that failed. */
import { X509Certificate } from "node:crypto";
import type { Clock, MetricsRegistry } from "#base";

export interface CertificateMetrics {
  /** The certificate that is used now. */
  issued(certPem: string): void;
  failed(): void;
}

const ROTATION_SECONDS = [
  60, 3600, 14_400, 21_600, 43_200, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000,
];

export function clientCertificateMetrics(metrics: MetricsRegistry, clock: Clock): CertificateMetrics {
  const errors = metrics.counter({
    name: "kubelet_certificate_manager_client_expiration_renew_errors",
    help: "Counter of certificate renewal errors.",
  });
  const current = timeToLive(
    metrics,
    clock,
    "kubelet_certificate_manager_client_ttl_seconds",
    "Time until the client certificate of the kubelet expires, in seconds. Negative: it has; +Inf: there is none.",
  );
  return { issued: current, failed: () => errors.labels().inc() };
}

export function serverCertificateMetrics(metrics: MetricsRegistry, clock: Clock): CertificateMetrics {
  const errors = metrics.counter({
    name: "kubelet_server_expiration_renew_errors",
    help: "Counter of certificate renewal errors.",
  });
  const rotation = metrics.histogram({
    name: "kubelet_certificate_manager_server_rotation_seconds",
    help: "Histogram of the number of seconds the previous certificate lived before being rotated.",
    buckets: ROTATION_SECONDS,
  });
  const current = timeToLive(
    metrics,
    clock,
    "kubelet_certificate_manager_server_ttl_seconds",
    "Time until the serving certificate of the kubelet expires, in seconds. Negative: it has; +Inf: there is none.",
  );
  let before: string | undefined;
  return {
    issued(certPem) {
      if (before !== undefined && before !== certPem)
        rotation.labels().observe((clock.now() - new X509Certificate(before).validFromDate.getTime()) / 1000);
      before = certPem;
      current(certPem);
    },
    failed: () => errors.labels().inc(),
  };
}

function timeToLive(metrics: MetricsRegistry, clock: Clock, name: string, help: string): (certPem: string) => void {
  const gauge = metrics.gauge({ name, help }).labels();
  let expiresMs = Number.POSITIVE_INFINITY;
  metrics.collect(() => gauge.set((expiresMs - clock.now()) / 1000));
  return (certPem) => {
    expiresMs = new X509Certificate(certPem).validToDate.getTime();
  };
}
