// The vendored library for node and tsc. The page has no modules: there, uPlot is a constant of its script.
import uPlot from './vendor/uPlot.esm.js';
export {uPlot};
