/** What both plain servers answer, so that nobody is measured on a smaller body. */

/** The body of Backlot's GET /, handed over by the benchmark and written as JSON at each request. */
export const statusBody: unknown = JSON.parse(
  process.env.BENCH_STATUS_BODY ?? '{"service":"http-mock","status":"running","version":"1.0.0"}',
);

export const echoBody = (received: unknown) => ({ status: "success", received });

export const bodyLimit = 1 << 20;
export const port = Number(process.argv[2]);
