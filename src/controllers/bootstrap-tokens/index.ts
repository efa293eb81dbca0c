/** Tokens with which new nodes join: they sign what everybody may read of the cluster, and go when their time is over. */
export { tokenCleaner } from "./cleaner.ts";
export { bootstrapSigner } from "./signer.ts";
