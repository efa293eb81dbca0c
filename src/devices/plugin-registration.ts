/** How plugins of a node introduce themselves to the kubelet: a socket in plugins_registry that says what they are. */
import type { Logger } from "#base";
import { methodsOf, type ServedService, servedService } from "#grpc";

const messages = {
  InfoRequest: {},
  PluginInfo: { type: [1, "string"], name: [2, "string"], endpoint: [3, "string"], supportedVersions: [4, "string[]"] },
  RegistrationStatus: { pluginRegistered: [1, "bool"], error: [2, "string"] },
  RegistrationStatusResponse: {},
} as const;

export interface PluginInfo {
  readonly type: string;
  readonly name: string;
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}

export function introduction(info: PluginInfo, log: Logger): ServedService {
  const methods = methodsOf("pluginregistration.Registration", messages, {
    GetInfo: ["InfoRequest", "PluginInfo"],
    NotifyRegistrationStatus: ["RegistrationStatus", "RegistrationStatusResponse"],
  });
  const { name } = info;
  return servedService(methods, {
    GetInfo: async () => info,
    NotifyRegistrationStatus: async ({ pluginRegistered, error }) => {
      if (pluginRegistered) log.info("the kubelet has registered the driver", { driver: name });
      else log.warn("the kubelet has not registered the driver", { driver: name, reason: error });
      return {};
    },
  });
}
