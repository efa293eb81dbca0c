/** A PKCS#10 request as far as its subject, in base64 of PEM. */
export function certificateRequest(commonName: string, ...organizations: readonly string[]): string {
  const attribute = (id: number, text: string) =>
    der(0x31, der(0x30, der(0x06, Buffer.from([0x55, 0x04, id])), der(0x0c, Buffer.from(text))));
  const name = der(0x30, attribute(3, commonName), ...organizations.map((each) => attribute(10, each)));
  const request = der(0x30, der(0x30, der(0x02, Buffer.from([0])), name));
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${request.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
  return Buffer.from(pem).toString("base64");
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, content.length]), content]);
}
