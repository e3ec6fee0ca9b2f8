import http from "node:http";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** One request on a connection of its own, with exactly the headers given: `fetch` allows neither Host nor Origin. */
export function httpRequest(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string; path?: string; localAddress?: string } = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { method = "GET", headers = {}, body, path, localAddress } = options;
    const target = { ...(path !== undefined && { path }), ...(localAddress !== undefined && { localAddress }) };
    const request = http.request(url, { method, headers, agent: false, ...target }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() }),
      );
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}
