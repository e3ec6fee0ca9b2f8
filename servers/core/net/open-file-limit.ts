interface Report {
  readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
}

/** How many files and sockets the system lets this process have open; infinite where it does not say. */
export function openFileLimit(): number {
  // Without it the names of all sockets are looked up.
  const report = Object.assign(process.report, { excludeNetwork: true }).getReport() as Report;
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}
