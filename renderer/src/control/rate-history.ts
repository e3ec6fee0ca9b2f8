/** Values that a sparkline shows: two minutes at one a second. */
export const sparklineSamples = 120;

export interface RecentRate {
  /** Newest last. */
  readonly itemsPerSecond: readonly number[];
}
export const noRecentRate: RecentRate = { itemsPerSecond: [] };

export const appendRate = (recent: RecentRate, itemsPerSecond: number): RecentRate => ({
  itemsPerSecond: [...recent.itemsPerSecond.slice(-(sparklineSamples - 1)), itemsPerSecond],
});
