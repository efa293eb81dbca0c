/** Opens an external signer. gRPC is loaded only where there is one. */
import type { ExternalSigner, ExternalSignerOptions } from "./signer.ts";

export async function openExternalSigner(options: ExternalSignerOptions): Promise<ExternalSigner> {
  const { ExternalSigner: Signer } = await import("./signer.ts");
  return Signer.open(options);
}
