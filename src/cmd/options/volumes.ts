/** kube-controller-manager's flags about volumes. */
import { Option } from "commander";
import type { StandaloneControllerManagerConfig } from "#cluster";
import { boolean } from "./values.ts";

export interface VolumeFlagOptions {
  readonly disableForceDetachOnTimeout: boolean;
  readonly enableDynamicProvisioning: boolean;
}

export function volumeFlags(): readonly Option[] {
  return [
    new Option(
      "--disable-force-detach-on-timeout [bool]",
      "never detach a volume from a node that is not Ready because the node does not unmount it",
    )
      .preset("true")
      .argParser(boolean)
      .default(false),
    new Option("--enable-dynamic-provisioning [bool]", "ask provisioners for the volumes of claims")
      .preset("true")
      .argParser(boolean)
      .default(true),
  ];
}

export function volumeFlagsFrom(
  options: VolumeFlagOptions,
): Pick<StandaloneControllerManagerConfig, "attachDetach" | "dynamicProvisioning"> {
  return {
    attachDetach: { forceDetachOnTimeout: !options.disableForceDetachOnTimeout },
    dynamicProvisioning: options.enableDynamicProvisioning,
  };
}
