interface PagedRows {
  view(): { readonly count: number; readonly hasOlder: boolean };
  loadOlder(): Promise<void>;
}

/** Loads all rows that the list can hold, page by page, until `isWanted` is false, a read fails or the rows are replaced. */
export async function loadToEnd({ view, loadOlder }: PagedRows, isWanted: () => boolean): Promise<void> {
  for (let before = -1; view().hasOlder && view().count > before && isWanted(); ) {
    before = view().count;
    await loadOlder();
  }
}
