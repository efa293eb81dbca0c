/** GET /configz: the effective configuration as a KubeletConfiguration. */
import type { KubeletConfig } from "../config/index.ts";

export function configz({ document }: Pick<KubeletConfig, "document">): object {
  return { kubeletconfig: document };
}
