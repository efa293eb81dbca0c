/** A stub resolver as many machines have one: at 127.0.0.53 it passes questions on. `stub-resolver.ts SERVER` */
import { createSocket } from "node:dgram";
import { connect, createServer } from "node:net";

const [server = ""] = process.argv.slice(2);
const stub = "127.0.0.53";
const udp = createSocket("udp4");
udp.on("message", (question, from) => {
  const upstream = createSocket("udp4");
  upstream.on("message", (answer) => {
    udp.send(answer, from.port, from.address);
    upstream.close();
  });
  upstream.send(question, 53, server);
});
udp.bind(53, stub, () => {
  createServer((socket) => {
    const upstream = connect(53, server);
    for (const each of [socket, upstream]) each.on("error", () => {});
    socket.pipe(upstream).pipe(socket);
  }).listen(53, stub, () => process.stdout.write("ready\n"));
});
