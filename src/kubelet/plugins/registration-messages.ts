/** The service by which plugins of a node introduce themselves (pluginregistration). `#grpc` explains the tables. */
import { methodsOf } from "#grpc";

const messages = {
  InfoRequest: {},
  PluginInfo: { type: [1, "string"], name: [2, "string"], endpoint: [3, "string"], supportedVersions: [4, "string[]"] },
  RegistrationStatus: { pluginRegistered: [1, "bool"], error: [2, "string"] },
  RegistrationStatusResponse: {},
} as const;

export function registrationMethods() {
  return methodsOf("pluginregistration.Registration", messages, {
    GetInfo: ["InfoRequest", "PluginInfo"],
    NotifyRegistrationStatus: ["RegistrationStatus", "RegistrationStatusResponse"],
  });
}
