/** The kubelet's own service for device plugins: Registration at kubelet.sock of their folder. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { isExtendedResource } from "#api";
import { abortable, type Clock, isAbort, type Logger } from "#base";
import { DEVICE_PLUGIN_VERSION, deviceRegistrationMethods, KUBELET_SOCKET } from "#devices";
import { servedService, serveGrpc } from "#grpc";
import type { DevicePlugins } from "./device-plugins.ts";

export interface RegistrationServerOptions {
  readonly dir: string;
  readonly plugins: DevicePlugins;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Until the signal aborts. */
export async function serveDeviceRegistration(
  { dir, plugins, clock, log }: RegistrationServerOptions,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o750 });
  const service = servedService(deviceRegistrationMethods(), {
    Register: async ({ version, endpoint, resourceName, options }) => {
      if (version !== DEVICE_PLUGIN_VERSION)
        throw new Error(
          `requested API version "${version}" is not supported by kubelet. Supported version is ["${DEVICE_PLUGIN_VERSION}"]`,
        );
      if (!isExtendedResource(resourceName)) throw new Error(`the ResourceName "${resourceName}" is invalid`);
      if (endpoint === "" || endpoint.includes("/"))
        throw new Error(`the endpoint "${endpoint}" is no name of a socket in ${dir}`);
      const registered = options ?? { preStartRequired: false, getPreferredAllocationAvailable: false };
      await plugins.connect(resourceName, join(dir, endpoint), registered, signal);
      log.info("device plugin registered", { resource: resourceName, endpoint });
      return {};
    },
  });
  const server = await serveGrpc(`unix://${join(dir, KUBELET_SOCKET)}`, [service], {
    clock,
    graceMs: 0,
    onError: (path, error) => log.warn("a device plugin could not be registered", { path, error }),
  });
  try {
    await abortable(new Promise<never>(() => {}), signal);
  } catch (error) {
    if (!isAbort(error, signal)) throw error;
  } finally {
    await server.close();
  }
}
