/** The simulated driver of devices in a Pod of its own, with the Pod's ServiceAccount: `device-driver CONFIG NODE`. */
import { readFileSync } from "node:fs";
import { createLogger, realClock } from "#base";
import { Client, https } from "#client";
import { runDeviceDriver } from "#devices";

const [configPath = "", nodeName = ""] = process.argv.slice(2);
const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const clock = realClock();
const log = createLogger({ level: "info", format: "json", clock, write: (line) => void process.stderr.write(line) });
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const connection = {
  server: `https://${host}:${port}`,
  caPem: readFileSync(`${ACCOUNT}/ca.crt`, "utf8"),
  token: readFileSync(`${ACCOUNT}/token`, "utf8"),
};
const client = new Client({ transport: https(connection, { clock }), clock, userAgent: "device-driver" });
const ending = new AbortController();
process.on("SIGTERM", () => ending.abort());
await runDeviceDriver(
  {
    client,
    configPath,
    nodeName,
    registrationDir: "/var/lib/kubelet/plugins_registry",
    pluginDir: "/var/lib/kubelet/plugins",
    devicePluginDir: "/var/lib/kubelet/device-plugins",
    cdiDir: "/var/run/cdi",
    clock,
    log,
  },
  ending.signal,
);
process.exit();
