/**
 * How a driver tells the kubelet of its node that it is there: a socket in the kubelet's folder for plugins, which
 * answers who serves where (pluginregistration). The kubelet's side is in src/kubelet/plugins.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type GrpcServer, methodsOf, type ServeOptions, servedService, serveGrpc } from "#grpc";

const messages = {
  InfoRequest: {},
  PluginInfo: { type: [1, "string"], name: [2, "string"], endpoint: [3, "string"], supportedVersions: [4, "string[]"] },
  RegistrationStatus: { pluginRegistered: [1, "bool"], error: [2, "string"] },
  RegistrationStatusResponse: {},
} as const;

export interface RegistrationOptions extends ServeOptions {
  /** The kubelet's `plugins_registry`. */
  readonly dir: string;
  readonly driver: string;
  /** The driver's socket as the kubelet sees it. */
  readonly endpoint: string;
  /** The kubelet has tried: `problem` is empty if it knows the driver now. */
  readonly onStatus: (problem: string) => void;
}

export async function serveRegistration(options: RegistrationOptions): Promise<GrpcServer> {
  const { dir, driver, endpoint, onStatus } = options;
  const methods = methodsOf("pluginregistration.Registration", messages, {
    GetInfo: ["InfoRequest", "PluginInfo"],
    NotifyRegistrationStatus: ["RegistrationStatus", "RegistrationStatusResponse"],
  });
  const service = servedService(methods, {
    GetInfo: async () => ({ type: "CSIPlugin", name: driver, endpoint, supportedVersions: ["1.0.0"] }),
    NotifyRegistrationStatus: async ({ pluginRegistered, error }) => {
      onStatus(pluginRegistered ? "" : error || "the kubelet gives no reason");
      return {};
    },
  });
  await mkdir(dir, { recursive: true, mode: 0o750 });
  return serveGrpc(`unix://${registrationSocket(dir, driver)}`, [service], options);
}

export function registrationSocket(dir: string, driver: string): string {
  return join(dir, `${driver}-reg.sock`);
}
