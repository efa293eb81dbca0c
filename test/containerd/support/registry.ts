/** A registry that has one image, under every name: `registry.ts ADDRESS PORT [USER:PASSWORD]`. Says `ready` when it listens. */
import { createServer } from "node:http";
import { imageArchive } from "../../../src/cluster/images/index.ts";
import { machineImages } from "../../../src/cluster/images/machine-images.ts";
import { registryHandler } from "./registry-handler.ts";

const [address = "127.0.0.1", port = "5000", user] = process.argv.slice(2);
const busybox = (await machineImages()).find(({ name }) => name.includes("busybox"));
const archive = Buffer.from(busybox?.archive ?? imageArchive({ name: "empty", machine: "x64", files: [] }));

createServer(registryHandler(archive, user)).listen(Number(port), address, () => process.stdout.write("ready\n"));
