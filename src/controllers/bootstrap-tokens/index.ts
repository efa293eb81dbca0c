/** Bootstrap tokens: sign the ConfigMap cluster-info for joining nodes, and are deleted when they expire. */
export { tokenCleaner } from "./cleaner.ts";
export { bootstrapSigner } from "./signer.ts";
