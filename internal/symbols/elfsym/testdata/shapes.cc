#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop {

class Shape {
public:
  virtual ~Shape() = default;
  virtual double area() const = 0;
};

template <typename Number> class Circle : public Shape {
public:
  explicit Circle(Number radius) : radius_(radius) {}
  double area() const override { return squared() * 3.14159; }

private:
  double squared() const { return static_cast<double>(radius_) * radius_; }
  Number radius_;
};

struct Cart {
  std::map<std::string, std::vector<int>> items;
  __attribute__((noinline)) void add(const std::string &name, int price) {
    if (price < 0)
      throw std::invalid_argument(name);
    items[name].push_back(price);
  }
  __attribute__((noinline)) int total() const {
    int sum = 0;
    for (const auto &item : items)
      for (int price : item.second)
        sum += price;
    return sum;
  }
};

__attribute__((noinline)) int total(const std::vector<std::unique_ptr<Shape>> &shapes) {
  double sum = 0;
  for (const auto &s : shapes)
    sum += s->area();
  auto rounded = [](double v) { return static_cast<int>(v + 0.5); };
  return rounded(sum);
}

} // namespace shop

int main(int argc, char **) {
  shop::Cart cart;
  for (int i = 0; i < 10; i++)
    cart.add("item" + std::to_string(i % 3), i * argc);
  std::vector<std::unique_ptr<shop::Shape>> shapes;
  shapes.push_back(std::make_unique<shop::Circle<int>>(argc));
  shapes.push_back(std::make_unique<shop::Circle<double>>(0.5));
  return cart.total() + shop::total(shapes) == 0;
}
