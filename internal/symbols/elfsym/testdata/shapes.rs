use std::collections::HashMap;

trait Shape {
    fn area(&self) -> f64;
}

struct Circle<T> {
    radius: T,
}

#[inline(always)]
fn squared(value: f64) -> f64 {
    value * value
}

impl<T: Copy + Into<f64>> Shape for Circle<T> {
    #[inline(never)]
    fn area(&self) -> f64 {
        squared(self.radius.into()) * 3.14159
    }
}

#[inline(never)]
fn count(words: &[String]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(word.as_str()).or_insert(0) += 1;
    }
    counts
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let shapes: Vec<Box<dyn Shape>> =
        vec![Box::new(Circle { radius: words.len() as f32 }), Box::new(Circle { radius: 2.0f64 })];
    let total: f64 = shapes.iter().map(|s| s.area()).sum();
    if total < 0.0 || count(&words).is_empty() {
        std::process::exit(1);
    }
}
