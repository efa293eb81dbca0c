/** kube-apiserver's flags about extension API servers. */
import { Option } from "commander";
import type { ApiServerConfig } from "#cluster";
import { boolean } from "../values.ts";

export interface AggregationFlagOptions {
  readonly enableAggregatorRouting?: boolean;
  readonly aggregatorRejectForwardingRedirect?: boolean;
}

export function aggregationOptions(): readonly Option[] {
  return [
    new Option(
      "--enable-aggregator-routing [boolean]",
      "send requests to the endpoints of extension API servers; false: to the Service's IP, which needs kube-proxy on this machine (default: true)",
    )
      .preset("true")
      .argParser(boolean),
    new Option(
      "--aggregator-reject-forwarding-redirect [boolean]",
      "answer 502 instead of passing on a redirect of an extension API server (default: true)",
    )
      .preset("true")
      .argParser(boolean),
  ];
}

export function aggregationFrom(options: AggregationFlagOptions): NonNullable<ApiServerConfig["aggregation"]> {
  return {
    toServiceIps: options.enableAggregatorRouting === false,
    passesRedirects: options.aggregatorRejectForwardingRedirect === false,
  };
}
