interface Report {
  readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
}

/** How many files and sockets this process may have open; Infinity where the system has no limit or reports none. */
export function openFileLimit(): number {
  // Without this setting the report resolves the host names of all sockets.
  const report = Object.assign(process.report, { excludeNetwork: true }).getReport() as Report;
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}
