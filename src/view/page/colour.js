// Colours by name: 36 hues of equal lightness, so that one dark ink is legible on all.

/** OKLCH to 0xAABBGGRR, as ImageData stores it on little-endian machines.
 * @param {number} lightness @param {number} chroma @param {number} hue degrees */
function pack(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const [red, green, blue] = linear.map((c) => {
    const v = c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(1, Math.max(0, v)));
  });
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

const HUES = 36;
const palette = new Uint32Array(HUES);
for (let i = 0; i < HUES; i++)
  palette[i] = pack(0.74 + 0.12 * ((i * 5) % 7) / 6, 0.075 + 0.03 * ((i * 3) % 4) / 3, (i * 137.508) % 360);

/** @param {string} name */
export function hueOf(name) {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return (((hash >>> 8) ^ hash) >>> 0) % HUES;
}

const states = /** @type {Record<string, number>} */ ({
  Running: pack(0.78, 0.11, 145), Runnable: pack(0.86, 0.09, 95), 'Runnable (Preempted)': pack(0.82, 0.1, 70), Sleeping: pack(0.93, 0.006, 250), 'Uninterruptible Sleep': pack(0.76, 0.11, 35),
});

/** @param {string} name */
export function colourOf(name) {
  return states[name] ?? palette[hueOf(name)];
}

/** Mixes two packed colours. @param {number} a @param {number} b @param {number} share of b */
export function mix(a, b, share) {
  let sum = 0xff000000;
  for (let shift = 0; shift < 24; shift += 8) {
    const value = ((a >>> shift) & 255) * (1 - share) + ((b >>> shift) & 255) * share;
    sum |= Math.round(value) << shift;
  }
  return sum >>> 0;
}

/** @param {number} colour */
export function css(colour) {
  return `rgb(${colour & 255} ${(colour >>> 8) & 255} ${(colour >>> 16) & 255})`;
}

/** Colours of the page, packed. @param {boolean} dark */
export function ground(dark) {
  return dark
    ? { ground: 0xff1d1816, fold: 0xff5c544e, dim: 0xff352f2b, area: 0xff8f7040, curve: 0xffd0a070, ink: '#15171b', text: '#e4e7ec', faint: '#98a1ae', line: '#343a44', bar: '#1e2229', accent: '#7aa7ff' }
    : { ground: 0xffffffff, fold: 0xffd6d1cc, dim: 0xffefecea, area: 0xfff3e0cc, curve: 0xffcc8855, ink: '#1c2026', text: '#20242a', faint: '#6b7280', line: '#d8dce2', bar: '#f5f6f8', accent: '#2563eb' };
}
