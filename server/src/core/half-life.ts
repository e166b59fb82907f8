/**
 * 2^(−k/64) in parts per million, for k from 0 to 64; every fourth entry is 2^(−k/16).
 *
 * Written out because `Math.pow` may differ between engine versions in the last digit.
 */
// biome-ignore format: a table reads best in rows
export const HALF_LIFE_STEPS_PPM: readonly number[] = [
  1_000_000, 989_228, 978_572, 968_031, 957_603, 947_288, 937_084, 926_990,
  917_004, 907_126, 897_355, 887_688, 878_126, 868_667, 859_310, 850_053,
  840_896, 831_838, 822_878, 814_014, 805_245, 796_571, 787_990, 779_502,
  771_105, 762_799, 754_582, 746_454, 738_413, 730_459, 722_590, 714_807,
  707_107, 699_490, 691_955, 684_501, 677_128, 669_834, 662_618, 655_481,
  648_420, 641_435, 634_525, 627_690, 620_929, 614_240, 607_624, 601_078,
  594_604, 588_198, 581_862, 575_595, 569_394, 563_261, 557_193, 551_191,
  545_254, 539_380, 533_570, 527_823, 522_137, 516_512, 510_949, 505_445,
  500_000,
]

/** After this many halvings less than one part per million is left. */
export const HALVINGS_MAX = 20
